package text

// What hark run says.
var (
	RunShort = message("Run a program for each object that changes: a controller of any program", "对象变化时运行程序：任何程序都能当控制器")
	RunLong  = message(`Run a program for each object that changes. Whatever it is written in, it gets what
a controller has: one run at a time for an object and several objects side by
side, changes that come together told together, failures tried again with growing
pauses, and what cannot succeed parked until its object changes.

The program gets the newest state as JSON on stdin ({schema, key, type, object,
last, causes, merged, attempt, deadline}) and the same in short as HARK_KEY,
HARK_TYPE, HARK_KIND, HARK_NAMESPACE, HARK_NAME, HARK_CAUSE, HARK_ATTEMPT and so on.
{namespace}, {name} and {kind} in ARGS are replaced. No shell is involved.

It answers by its exit code: 0 done; 75 try again later; 100 permanent, park it;
any other: failed, try again. The last line of its stdout may be
{"requeueAfter":"30s"} or {"park":"reason"}; all other output is passed on.

With --stream one program per worker is kept running: it reads a request a line and
answers each with a line: {}, {"requeueAfter":"30s"}, {"park":"reason"},
{"retry":true} or {"error":"what went wrong"}.

The end of a run, a timeout and a second Ctrl+C end all that the program has
started. After a first Ctrl+C, or with --once at the end, a summary is printed; the
exit code is 0 when the last run of every object went well, 1 otherwise.`,
		`对象每次变化都运行一个程序。无论用什么语言写成，它都拥有控制器应有的一切：
同一对象一次只运行一个，不同对象并行；同时到来的变化合并告知；失败后按逐渐
变长的间隔重试；不可能成功的先搁置，直到对象再次变化。

程序从 stdin 得到 JSON 格式的最新状态（{schema, key, type, object, last, causes,
merged, attempt, deadline}），摘要在环境变量 HARK_KEY、HARK_TYPE、HARK_KIND、
HARK_NAMESPACE、HARK_NAME、HARK_CAUSE、HARK_ATTEMPT 等中。ARGS 里的 {namespace}、
{name}、{kind} 会被替换。全程不经过 shell。

程序用退出码作答：0 完成；75 稍后再试；100 无法成功，搁置；其他：失败，重试。
stdout 的最后一行可以是 {"requeueAfter":"30s"} 或 {"park":"原因"}；其余输出原样转出。

加 --stream 时，每个 worker 保持一个常驻程序：它每行读入一个请求，并用一行作答：
{}、{"requeueAfter":"30s"}、{"park":"原因"}、{"retry":true} 或 {"error":"出错原因"}。

运行结束、超时、第二次 Ctrl+C 都会结束程序启动的一切。第一次按 Ctrl+C 后，或
--once 完成时，输出汇总；每个对象的最后一次运行都成功则退出码为 0，否则为 1。`)
	RunExamples = message(`# Look first: what would run, and why
{command} run deployments -A --dry-run -- ./check.sh
# Each ConfigMap with the label, once, then the end
{command} run configmaps -l app=web --once -- ./sync.sh {namespace} {name}
# Only when the pod template changes; park after five failures
{command} run deploy --when 'old != null && object != null && object.spec.template != old.spec.template' --max-tries 5 -- ./notify.py
# One Python program per worker, kept running
{command} run pods,nodes --stream --workers 4 -- python3 watcher.py`,
		`# 先看看会运行什么、为什么
{command} run deployments -A --dry-run -- ./check.sh
# 处理带有此标签的每个 ConfigMap，完成后结束
{command} run configmaps -l app=web --once -- ./sync.sh {namespace} {name}
# 仅在 Pod 模板变化时运行；失败五次后搁置
{command} run deploy --when 'old != null && object != null && object.spec.template != old.spec.template' --max-tries 5 -- ./notify.py
# 每个 worker 保持一个常驻的 Python 程序
{command} run pods,nodes --stream --workers 4 -- python3 watcher.py`)

	RunningNamespace = message("Running {command} for changes of {kinds} in namespace={namespace}, Ctrl+C to end", "namespace={namespace} 的 {kinds} 每次变化都运行 {command}，Ctrl+C 结束")
	RunningAll       = message("Running {command} for changes of {kinds} in all namespaces, Ctrl+C to end", "所有 namespace 的 {kinds} 每次变化都运行 {command}，Ctrl+C 结束")
	RunningCluster   = message("Running {command} for changes of {kinds}, Ctrl+C to end", "{kinds} 每次变化都运行 {command}，Ctrl+C 结束")

	RunEnding = message("Ending: no further object is taken, runs under way may go on for {grace}; Ctrl+C again kills them", "正在结束：不再处理新的对象，进行中的运行最多再持续 {grace}；再按 Ctrl+C 立即杀死它们")

	RunFailed = message("{key}: attempt {attempt} failed, next in {pause}: {reason}", "{key}：第 {attempt} 次尝试失败，{pause} 后重试：{reason}")
	RunAgain  = message("{key}: attempt {attempt} asks to be tried again, next in {pause}", "{key}：第 {attempt} 次尝试要求稍后再试，{pause} 后重试")
	RunParked = message("{key}: parked by attempt {attempt}, until it changes: {reason}", "{key}：第 {attempt} 次尝试后搁置，直到对象变化：{reason}")
	RunBroken = message("{key}: attempt {attempt} was broken off, the time for it was up", "{key}：第 {attempt} 次尝试被中断，等待时间已到")
	WouldRun  = message("{key}: would run {command} because of {causes}", "{key}：将会运行 {command}，原因：{causes}")

	HotLoop = message("HOT LOOP: {key} was run more than {runs} {runs:time|times} within {window}, each time because of what its own run had changed; such changes now wait {pause}. It keeps changing:",
		"热循环：{key} 在 {window} 内运行了 {runs} 次以上，每次都由它自己的运行引起；这类变化现在要等待 {pause}。它反复修改的是：")
	TryHotLoop      = message("compare before you write, and write nothing that already is as it should be", "先比较再写入；已经符合要求的不要再写")
	TryFieldManager = message("compare before you write; and write with --field-manager \"$HARK_FIELD_MANAGER\", so that the program's own changes are told apart from those of others",
		"先比较再写入；并用 --field-manager \"$HARK_FIELD_MANAGER\" 写入，以便区分程序自己的修改和他人的修改")
	WhenFailed  = message("{key}: --when gives no answer, which counts as no: {reason}", "{key}：--when 没有得出结果，按不匹配处理：{reason}")
	TryWhen     = message("object != null && has(object.spec.x), or object.?spec.?x.orValue(0); object is null after a deletion, old before a creation", "object != null && has(object.spec.x)，或 object.?spec.?x.orValue(0)；删除后 object 为 null，新建时 old 为 null")
	StateFailed = message("the state could not be saved, trying again: {reason}", "无法保存状态，会继续尝试：{reason}")

	RunSummary     = message("{runs} {runs:run|runs}: {done} done, {retries} tried again, {parked} parked, {broken} broken off", "共运行 {runs} 次：完成 {done}，重试 {retries}，搁置 {parked}，中断 {broken}")
	SummaryParked  = message("parked: {key}, after {tries} {tries:attempt|attempts}: {reason}", "搁置：{key}，尝试 {tries} 次：{reason}")
	SummaryFailing = message("failing: {key}, after {tries} {tries:attempt|attempts}: {reason}", "未成功：{key}，尝试 {tries} 次：{reason}")
	SummaryMore    = message("  and {number} more", "  还有 {number} 个")
	NotAllDone     = message("not every object is done: {parked} parked, {failing} to be tried again, {broken} broken off", "并非所有对象都已完成：搁置 {parked}，待重试 {failing}，中断 {broken}")

	NoProgram          = message("a program to run is missing: it comes after --", "缺少要运行的程序：写在 -- 之后")
	TryProgram         = message("{command} run pods -- ./script.sh", "{command} run pods -- ./script.sh")
	TryProgramPath     = message("ls -l {file}, and chmod +x {file} for a script of yours", "ls -l {file}；若是自己的脚本，chmod +x {file}")
	TryProgramHere     = message("{file}, as a program of the current folder is named", "{file}：当前目录里的程序要这样写")
	StateTaken         = message("--state needs a file of its own: {file} is the recording's", "--state 需要单独的文件：{file} 归录制使用")
	OutputTaken        = message("--{flag} needs a file of its own: what {command} says goes to {file}", "--{flag} 需要单独的文件：{command} 的输出就写到 {file}")
	PathIsList         = message("programs cannot be told of the kubeconfig {file}: KUBECONFIG takes it for several paths", "无法把 kubeconfig {file} 告诉程序：KUBECONFIG 会把它当作多个路径")
	TryLinkToConfig    = message("ln -s {file} PATH, and --kubeconfig PATH, where PATH is absolute and has no {separator}", "ln -s {file} PATH，再用 --kubeconfig PATH；PATH 须为绝对路径，且不含 {separator}")
	StreamPlaceholders = message("--stream starts the program before there is an object: its arguments can have no placeholders", "--stream 启动程序时还没有对象：参数里不能有占位符")
	TryStateFile       = message("ls -l {file}, or another file", "ls -l {file}，或换一个文件")
)
