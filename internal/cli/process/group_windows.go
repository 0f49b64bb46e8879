package process

import (
	"os/exec"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is a job object. It ends with its handle, and so with this process, too.
type group struct {
	pid uint32

	mu  sync.Mutex // guards what follows
	job windows.Handle
}

// start starts the program and puts it into a job, which what it starts belongs
// to as well. What it starts before that, within its first moments, does not.
func (g *group) start(cmd *exec.Cmd) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.pid, g.job = uint32(cmd.Process.Pid), job
	if err := g.join(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		g.release()
		return err
	}
	return nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, err
	}
	return job, nil
}

// join puts the program into the job. One that has ended already needs none.
func (g *group) join() error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, g.pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	err = windows.AssignProcessToJobObject(g.job, process)
	var code uint32
	if err != nil && windows.GetExitCodeProcess(process, &code) == nil && code != stillActive {
		return nil
	}
	return err
}

// stillActive is the exit code of a process that runs.
const stillActive = 259

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	totalUserTime, totalKernelTime            int64
	thisPeriodUserTime, thisPeriodKernelTime  int64
	pageFaults, processes, active, terminated uint32
}

const basicAccountingInformation = 1 // JobObjectBasicAccountingInformation

// leftovers tells whether the job has members.
func (g *group) leftovers() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job == 0 {
		return false
	}
	var a accounting
	err := windows.QueryInformationJobObject(g.job, basicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.active > 0
}

// terminate sends CTRL_BREAK, which programs hear that handle it.
func (g *group) terminate() {
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, g.pid) // without a console there is nothing to hear it
}

func (g *group) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.TerminateJobObject(g.job, 1) // an error: it has ended
	}
}

func (g *group) release() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
		g.job = 0
	}
}
