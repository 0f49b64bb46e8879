package text

// Help of commands and headings.
var (
	HelpUsage    = message("Usage:", "用法:")
	HelpCommands = message("Commands:", "命令:")
	HelpExamples = message("Examples:", "示例:")
	HelpFlags    = message("Flags:", "选项:")
	HelpConnect  = message("Connection flags:", "连接选项:")
	HelpMore     = message(`Use "{command} COMMAND --help" for more about a command.`, `用 "{command} COMMAND --help" 查看某个命令的详细说明。`)
	HelpDefault  = message("(default {value})", "(默认 {value})")

	RootShort = message("Listen to a Kubernetes cluster", "倾听 Kubernetes 集群的变化")
	RootLong  = message(`hark listens to a Kubernetes cluster: it shows what happens to objects, while it
happens, and plays how a controller hears of it and gets its work done.

Exit codes: 0 done, or ended by Ctrl+C; 1 error; 2 wrong usage; 130 ended at
once by a second Ctrl+C.`,
		`hark 倾听 Kubernetes 集群：对象发生的每个变化即时可见；
它还现场演示控制器如何听到变化、又如何把活干完。

退出码：0 正常结束或按 Ctrl+C 结束；1 出错；2 用法错误；130 再次按 Ctrl+C 立即结束。`)

	WatchShort = message("Show what happens to objects, while it happens", "实时显示对象发生的变化")
	WatchLong  = message(`Show what happens to objects, while it happens.

Objects that exist already come first, as Added. After a lost connection hark
reconnects, for ever, and shows what it missed; no change is shown twice. States
of the connection are told on stderr, events go to stdout.

A line of text ends in the one field that tells most: phase=Running, ready=1/3
(then updated=1 observed=1/2 while a rollout is under way), or the message of an
Event; and in "deleting" while an object is marked for deletion. A pod's Added
and that of any new object have no such field.

A type is given as to kubectl: pods, po, deploy, deployments.v1.apps. A type that
the server does not have is an error, unless it is written with its group
(widgets.example.com) or --wait is given: then hark waits until the server has
it. A NAME that does not exist is waited for, and so is a permission; for scripts
--no-wait makes each of these an error. Values of Secrets are redacted, and
managedFields are left out of objects unless --show-managed-fields is given.`,
		`实时显示对象发生的变化。

已有的对象先以 Added 列出。连接断开后会一直重连，并补上错过的变化；
同一个变化不会显示两次。连接状态写到 stderr，事件写到 stdout。

文本行末尾是最能说明问题的一个字段：phase=Running、ready=1/3（滚动更新期间还有
updated=1 observed=1/2）或者 Event 的消息；对象被标记删除后再加上 deleting。
Pod 的 Added 以及任何新对象的 Added 不带这个字段。

类型的写法与 kubectl 相同：pods、po、deploy、deployments.v1.apps。服务器上没有的
类型会报错；但写全组名（widgets.example.com）或加上 --wait 时，会一直等到它出现。
NAME 还不存在或没有权限时也会等待；在脚本中可用 --no-wait，让这些情况立即报错。
Secret 的值一律隐去；对象中不含 managedFields，除非加上 --show-managed-fields。`)
	WatchExamples = message(`# Pods of the current namespace
{command} watch pods
# One pod, with what changed in it
{command} watch pod/tmp --diff
# Two kinds in all namespaces, one JSON document a line
{command} watch pods,deployments -A -o json`,
		`# 当前 namespace 的 Pod
{command} watch pods
# 单个 Pod，并显示改了哪些字段
{command} watch pod/tmp --diff
# 所有 namespace 的两种资源，每行一个 JSON 文档
{command} watch pods,deployments -A -o json`)

	DemoShort = message("Play the whole pipeline live, without a cluster", "无需集群，现场演示整条流水线")
	DemoLong  = message(`Start an API server in this process and play, live, how a change travels from a
watch to a worker: a pod that comes, runs and goes; a burst of changes that
reaches the worker as few runs; a key that fails and is retried; a controller
that scales a Deployment. Afterwards it goes on and reacts to what you do with
kubectl in another terminal.

With --cluster the same is played on a real control plane: kube-apiserver, etcd,
scheduler and controller manager run on this machine, and end with the demo. It
is started by hark-cluster or, where that is not in PATH, by means of go. The
first time it is compiled, which takes about 10 minutes; --for counts from when
it is ready.`,
		`在本进程内启动一个 API 服务器，现场演示一个变化如何从 Watch 走到 worker：
一个 Pod 创建、运行、消失；一大波变化合并成几次处理；一个 key 失败后重试成功；
一个控制器为 Deployment 扩容。演示之后程序继续运行，
在另一个终端用 kubectl 操作，这里立刻有反应。

加 --cluster 时，同样的内容在真实的控制面上演示：kube-apiserver、etcd、scheduler
和 controller-manager 运行在本机，随演示一起结束。它由 hark-cluster 启动；
PATH 中没有时用 go 编译。首次编译约需 10 分钟；--for 从就绪后开始计时。`)
	DemoExamples = message(`# Until Ctrl+C
{command} demo
# All of it, then the end
{command} demo --for 25s
# On a real control plane
{command} demo --cluster`,
		`# 直到 Ctrl+C
{command} demo
# 演完即止
{command} demo --for 25s
# 在真实的控制面上
{command} demo --cluster`)

	APIServerShort = message("Run an API server in memory, for any client", "运行内存中的 API 服务器，供任何客户端使用")
	APIServerLong  = message(`Run a Kubernetes API server in memory, over real HTTP: for tests and experiments
with kubectl and clients in any language. It is ready at once, needs nothing
installed, and keeps nothing: what it holds goes with it.

It has no authentication: whoever reaches the address may do everything, so that
it listens on this machine alone. When it is ready, a line on stdout says so; with
-o json that is one document with the URL and the path of the kubeconfig. In a
pipe the server ends with whoever reads that. An existing file is replaced by
--kubeconfig-out only if it is empty or was written by hark.

Without --story nothing happens by itself, as beside a real API server that runs
alone: pods stay Pending and Deployments have no pods.`,
		`在内存中运行一个 Kubernetes API 服务器，提供真实的 HTTP 接口：可用 kubectl 和任何
语言的客户端做测试和实验。立即就绪，无需安装任何东西；内容不落盘，随进程消失。

它没有身份认证：能访问该地址的人拥有全部权限，因此只监听本机。就绪后在 stdout
输出一行；用 -o json 时是一个 JSON 文档，含 URL 和 kubeconfig 路径。
stdout 是管道时，读取方结束，服务器随之结束。
--kubeconfig-out 指定的文件若已存在，仅当它是空文件或由 hark 写出时才会被替换。

不加 --story 时不会自动发生任何事，与单独运行的真实 API 服务器相同：
Pod 一直是 Pending，Deployment 没有 Pod。`)
	APIServerExamples = message(`# Until Ctrl+C, with a scheduler and kubelets that are played
{command} apiserver --story
# With objects to begin with, at a fixed port
{command} apiserver --load objects.yaml --addr 127.0.0.1:8001
# For as long as a script runs, which begins when the server is ready
{command} apiserver -o json | { read -r ready; ./script "$ready"; }`,
		`# 直到 Ctrl+C，并模拟调度器和 kubelet
{command} apiserver --story
# 预先载入对象，使用固定端口
{command} apiserver --load objects.yaml --addr 127.0.0.1:8001
# 服务器就绪后运行脚本，脚本结束则服务器结束
{command} apiserver -o json | { read -r ready; ./script "$ready"; }`)

	VersionShort = message("Print the version", "显示版本")

	CompletionShort = message("Print the completion script of a shell", "输出 shell 补全脚本")
	CompletionLong  = message(`Print a script that completes commands, flags, kinds, names, namespaces and
contexts in bash, zsh, fish or powershell. No other package is needed; in bash,
the package bash-completion is used where it is installed.

As a kubectl plugin, completion needs no script but a link named
kubectl_complete-hark to this program in a folder of PATH.`,
		`输出 bash、zsh、fish 或 powershell 的补全脚本：
可补全命令、选项、资源类型、名字、namespace 和 context。
不需要别的软件包；bash 中若装有 bash-completion 则使用它。

作为 kubectl 插件时不需要脚本：在 PATH 的某个目录里
放一个指向本程序、名为 kubectl_complete-hark 的链接即可。`)
	CompletionExamples = message(`# This shell
source <({command} completion bash)
# fish, for good
{command} completion fish > ~/.config/fish/completions/hark.fish`,
		`# 当前 shell
source <({command} completion bash)
# fish，长期生效
{command} completion fish > ~/.config/fish/completions/hark.fish`)

	HelpShort = message("Help about a command", "查看命令的帮助")
)
