package text

// What hark record, hark record show and hark replay say.
var (
	RecordShort = message("Record what happens to objects, to play it again", "录制对象发生的变化，供以后重放")
	RecordLong  = message(`Record what happens to objects: the state to begin with, then each event with its
time and cause, as compressed lines of JSON that "zstdcat FILE | jq" shows. hark
replay plays the file again, for people or as a server; in tests of Go programs,
the package record/recordtest does.

The file is for its owner alone and never replaces another. It is written twice a
second: what a crash loses is less than a second, and everything before is read.
Values of Secrets never get into it; --redact keeps other fields out. A redacted
field still shows when it changed. With --rotate a large recording becomes several
files, of which each begins with the state at its time.

A TYPE is given, waited for and chosen from as for hark watch.`,
		`录制对象发生的变化：先是初始状态，再是每个事件及其时间和原因。文件是压缩的逐行 JSON，
可用 "zstdcat FILE | jq" 查看。hark replay 可把它重放给人看，或作为服务器重现；
在 Go 程序的测试中可用 record/recordtest 包重放。

文件只有本人可读，且从不覆盖已有文件。每秒写盘两次：崩溃最多丢失一秒以内的内容，
之前的都能读出。Secret 的值一律不会写入；--redact 可隐去其他字段，被隐去的字段仍能
看出何时变化。加 --rotate 时，大的录制会分成多个文件，每个都从当时的状态开始。

TYPE 的写法、等待和筛选与 hark watch 相同。`)
	RecordExamples = message(`# Pods of the current namespace, until Ctrl+C
{command} record -o pods.hark pods
# Several kinds in all namespaces, in files of 100 MB, of which the last ten stay
{command} record -o shop.hark pods,deployments,configmaps -A --redact data --rotate 100M --keep 10
# What is in it
{command} record show shop.hark`,
		`# 当前 namespace 的 Pod，直到 Ctrl+C
{command} record -o pods.hark pods
# 所有 namespace 的几种资源，每个文件 100 MB，保留最近十个
{command} record -o shop.hark pods,deployments,configmaps -A --redact data --rotate 100M --keep 10
# 看看里面有什么
{command} record show shop.hark`)

	ShowShort = message("Show what is in a recording", "显示录制文件的内容")
	ShowLong  = message(`Show what is in a recording: when and where it was made, how many objects and
events there are of each kind, and for each object when it came, how often it
changed and when it went. With --diff, or when a TYPE/NAME is given, every version
of an object is shown with what changed in it.`,
		`显示录制的内容：何时、在哪里录的，每种资源有多少对象和事件，每个对象何时出现、
变化几次、何时消失。加 --diff 或给出 TYPE/NAME 时，显示对象的每个版本和其中的变化。`)
	ShowExamples = message(`{command} record show shop.hark
# The history of one object
{command} record show shop.hark deployment/web`,
		`{command} record show shop.hark
# 单个对象的历史
{command} record show shop.hark deployment/web`)

	ReplayShort = message("Play a recording again", "重放录制")
	ReplayLong  = message(`Play a recording again and print it as hark watch printed it, or would have: the
same lines in the same formats, at the pace of the recording or faster.

--from and --to choose a part of it: what existed at --from comes first, as Added.
A file that was cut off by a crash is played up to there, which is said on stderr.
FILE may be - for standard input. The other parts of a recording that was rotated
(FILE.1, FILE.2 and so on) are played as well, unless one of them is named.

With -- CMD the program is run for the objects that change, as hark run would, and
it ends when the recording is over and everything is done or parked. The program is
told of objects as they were; what it writes goes to the cluster of its KUBECONFIG.`,
		`重放录制，输出与 hark watch 当时的输出相同：同样的行、同样的格式，
按录制时的节奏或更快。

--from 和 --to 选取其中一段：--from 时刻已有的对象先以 Added 列出。因崩溃而不完整的
文件会播放到断点为止，并在 stderr 上说明。FILE 为 - 时从标准输入读取。分成多个文件的
录制（FILE.1、FILE.2……）会一并播放，除非指定其中一个。

加 -- CMD 时像 hark run 那样对变化的对象运行程序；录制播完且全部做完或搁置后结束。
程序得知的是对象当时的样子；它写入的内容会进入其 KUBECONFIG 所指的集群。`)
	ReplayExamples = message(`# As fast as it can be read, with what changed
{command} replay pods.hark --speed max --diff
# Two minutes of it, ten times as fast, as JSON
{command} replay pods.hark --from 10:12:00 --to 10:14:00 --speed 10 -o json
# To a program, as hark run does
{command} replay pods.hark --speed max -- ./script
# To any client
{command} apiserver --load pods.hark --replay`,
		`# 不停顿地播放，并显示改了哪些字段
{command} replay pods.hark --speed max --diff
# 其中两分钟，十倍速，输出 JSON
{command} replay pods.hark --from 10:12:00 --to 10:14:00 --speed 10 -o json
# 交给程序处理，如同 hark run
{command} replay pods.hark --speed max -- ./script
# 作为服务器，供任何客户端使用
{command} apiserver --load pods.hark --replay`)

	Recording       = message("Recording {kinds} events to {file}, Ctrl+C to quit", "录制 {kinds} 事件到 {file}，Ctrl+C 退出")
	AlsoRecording   = message("Recording to {file}", "录制到 {file}")
	Recorded        = message("recorded {events} {events:event|events}, {bytes} bytes: {file}", "已录制 {events} 个事件，{bytes} 字节：{file}")
	TryShow         = message("try: {command} record show {file}", "try: {command} record show {file}")
	RecordStopped   = message("the recording ends here, watching goes on: {reason}", "录制到此为止，监听继续：{reason}")
	RecordBroken    = message("the recording could not be written on: {reason}", "录制无法继续写入：{reason}")
	TryShowBroken   = message("df {folder}; what was recorded before can be read: {command} record show {file}", "df {folder}；之前录制的内容可以读取：{command} record show {file}")
	RecordExists    = message("{file} exists and is not empty", "{file} 已存在且非空")
	TryAnotherFile  = message("another file, or rm {file}", "换一个文件名，或 rm {file}")
	NeedsFile       = message("a file is needed: -o FILE, or -o - for standard output", "需要指定文件：-o FILE，或 -o - 表示标准输出")
	NotOnTerminal   = message("a recording is not for a terminal", "录制内容不能输出到终端")
	OnlyWithRecord  = message("--{flag} needs --record FILE", "--{flag} 需要与 --record FILE 合用")
	OnlyFiles       = message("--rotate needs a file, not standard output", "--rotate 需要文件，不能是标准输出")
	StdoutTaken     = message("--record needs a file: events go to standard output", "--record 需要文件：标准输出用于打印事件")
	BadSize         = message("--rotate must be a size such as 100M or 64Mi, not {value}", "--rotate 必须是大小，如 100M 或 64Mi，不能是 {value}")
	BadKeep         = message("--keep must be a number from 0, and needs --rotate", "--keep 必须是不小于 0 的整数，且需要 --rotate")
	BadSpeed        = message("--speed must be a number above 0, or max, not {value}", "--speed 必须是大于 0 的数，或 max，不能是 {value}")
	BadTime         = message("--{flag} must be a time such as 2026-03-01T10:12:00Z, 10:12:00 or 90s, not {value}", "--{flag} 必须是时间，如 2026-03-01T10:12:00Z、10:12:00 或 90s，不能是 {value}")
	NextDay         = message("the recording began later in the day: --{flag} is taken for {time}", "录制开始于当天更晚的时间：--{flag} 按 {time} 处理")
	TimesReversed   = message("--from must not be after --to", "--from 不能晚于 --to")
	OnlyWithProgram = message("--{flag} needs a program: -- CMD", "--{flag} 需要程序：-- CMD")
	NotWithProgram  = message("--{flag} is for what is printed, and with -- CMD nothing is", "--{flag} 用于打印，而使用 -- CMD 时不打印")
	ReplayRunning   = message("Running {command} for the {kinds} events of {time} in {file}, Ctrl+C to quit", "对 {file} 中 {time} 的 {kinds} 事件运行 {command}，Ctrl+C 退出")
	OneRecording    = message("{command} needs one recording", "{command} 需要一个录制文件")
	NotARecording   = message("{file} is not a recording: {reason}", "{file} 不是录制文件：{reason}")
	RecordingCut    = message("the recording ends here, it was cut off (byte {offset}): {file}", "录制到此为止，文件不完整（第 {offset} 字节处）：{file}")
	RecordingOpen   = message("the recording has no end: its program was killed or crashed, or still records", "录制没有结束标记：程序被终止或崩溃了，或仍在录制")
	RecordingGoesOn = message("the recording goes on in its next part", "录制在下一个分段文件中继续")
	RecordingDamage = message("the recording is damaged and cannot be read on: {reason}", "录制文件已损坏，无法继续读取：{reason}")
	TryWhole        = message("zstd -t {file}; what comes before byte {offset} was read", "zstd -t {file}；第 {offset} 字节之前的内容已读出")
	Replaying       = message("Replaying {kinds} events of {time} from {file}, Ctrl+C to quit", "重放 {file} 中 {time} 的 {kinds} 事件，Ctrl+C 退出")
	IsRecording     = message("{file} is a recording", "{file} 是录制文件")
	TryReplay       = message("{command} --load {file} --replay", "{command} --load {file} --replay")
	NothingToReplay = message("--replay needs a recording: --load FILE", "--replay 需要录制文件：--load FILE")
	NoSuchObject    = message("the recording has no {name}", "录制中没有 {name}")

	ShowHead     = message("{file}: recorded {from} to {to} ({time})", "{file}：录制于 {from} 至 {to}（{time}）")
	ShowServer   = message("server {version}", "服务器 {version}")
	ShowRedacted = message("redacted: values of Secrets, {paths}", "已隐去：Secret 的值、{paths}")
	ShowStream   = message("{kind} {scope}: {initial} at the beginning, {events} {events:event|events}, {final} at the end", "{kind} {scope}：开始时 {initial} 个，{events} 个事件，结束时 {final} 个")
	ShowAll      = message("in all namespaces", "（所有 namespace）")
	ShowCluster  = message("of the cluster", "（集群级）")
	ShowIn       = message("in {namespace}", "（位于 {namespace}）")
)
