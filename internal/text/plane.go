package text

// What hark demo --cluster says of the control plane below it.
var (
	PlaneStarts = message("A real control plane is being started. The first time it is compiled, which takes about 10 minutes; afterwards it takes a few seconds. Ctrl+C to quit",
		"正在启动真实的控制面。首次需要编译，约 10 分钟；以后只需几秒。Ctrl+C 退出")
	PlaneIntro = message("A real control plane runs on this machine. From another terminal: kubectl --kubeconfig {path} get pods -w",
		"本机运行着一个真实的控制面。可在另一个终端输入：kubectl --kubeconfig {path} get pods -w")
	NoPlane  = message("a real control plane needs the program hark-cluster, or the go command to build it; neither is in PATH", "真实的控制面需要 hark-cluster 程序，或用 go 命令编译它；PATH 中两者都没有")
	TryGo    = message("install Go from https://go.dev/dl/, or without a control plane: {command} demo", "从 https://go.dev/dl/ 安装 Go；或不用控制面：{command} demo")
	TryPlain = message("without a control plane: {command} demo", "不用控制面：{command} demo")
)
