package text

// What goes wrong, and what to try. Errors that kubectl has words for are
// written in those words and are not here.
var (
	TryHelp      = message("{command} --help", "{command} --help")
	TryDemo      = message("{command} --kubeconfig PATH, or without a cluster: {demo} demo", "{command} --kubeconfig PATH；没有集群时：{demo} demo")
	TryServer    = message("kubectl cluster-info, to see whether the cluster runs and where; without a cluster: {demo} demo", "用 kubectl cluster-info 查看集群是否在运行、地址是什么；没有集群时：{demo} demo")
	TryContexts  = message("kubectl config get-contexts", "kubectl config get-contexts")
	TryKinds     = message("kubectl api-resources, or --wait to wait until the server has it", "kubectl api-resources；或加 --wait 一直等到它出现")
	TryTypes     = message("{command} watch pods,services,deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs; all is a word of kubectl get for several types", "{command} watch pods,services,deployments,replicasets,statefulsets,daemonsets,jobs,cronjobs；all 是 kubectl get 对多种资源的统称")
	TryCoreGroup = message("{command} watch {name}, or {kind}. with a dot at its end for the core group", "{command} watch {name}；核心组请在末尾加一个点：{kind}.")
	TryWatchable = message("kubectl api-resources --verbs=list,watch", "kubectl api-resources --verbs=list,watch")
	TrySelector  = message("-l app=web, -l 'app in (web, api)', -l '!app'; several are joined by commas",
		"-l app=web、-l 'app in (web, api)'、-l '!app'；多个条件用逗号连接")
	TryField = message("--field-selector metadata.name=NAME; which other fields can be selected depends on the type, labels (-l) always can",
		"--field-selector metadata.name=NAME；其他可选字段因资源类型而异，标签（-l）总是可用")
	TryNamespaces  = message("kubectl get namespaces, or --wait to wait until it exists", "kubectl get namespaces；或加 --wait 一直等到它出现")
	TryLogin       = message("kubectl auth whoami, then log in again or renew the token", "kubectl auth whoami，然后重新登录或更新令牌")
	TryCertificate = message("--certificate-authority PATH, or the kubeconfig that belongs to this cluster",
		"--certificate-authority PATH，或换用这个集群的 kubeconfig")
	TryFreePort  = message("{command} without --addr, for a free port of this machine", "不加 --addr 运行 {command}，使用本机的空闲端口")
	TryLocalAddr = message("{command} --addr {addr}, or add --unsafe-any-address", "{command} --addr {addr}；或加上 --unsafe-any-address")
	TryOtherFile = message("{command} --kubeconfig-out with a file that does not exist yet", "{command} --kubeconfig-out 换一个尚不存在的文件")
	TryPlace     = message("{command} --kubeconfig-out with a file in a folder that exists, can be written and has room", "{command} --kubeconfig-out 换一个文件：所在目录须已存在、可写且有空间")
	TryFile      = message("ls -l {file}", "ls -l {file}")
	TryObject    = message("give each document apiVersion, kind and metadata.name, and each CustomResourceDefinition before its objects",
		"每个文档都要有 apiVersion、kind 和 metadata.name；CustomResourceDefinition 要在它的对象之前")

	NoConfig = message("no kubeconfig was found: {looked}", "找不到 kubeconfig：{looked}")
	BadLang  = message("--lang must be en or zh, not {value}", "--lang 只能是 en 或 zh，不能是 {value}")
	BadColor = message("--color must be auto, always or never, not {value}", "--color 只能是 auto、always 或 never，不能是 {value}")
	BadFor   = message("--for must not be negative: {value}", "--for 不能是负数：{value}")
	OpenAddr = message("--addr {addr} can be reached from other machines, and this server has no authentication", "--addr {addr} 可从其他机器访问，而本服务器没有身份认证")
	BadAddr  = message("--addr must be HOST:PORT, such as 127.0.0.1:8001: {reason}", "--addr 必须是 HOST:PORT，如 127.0.0.1:8001：{reason}")
	KeptFile = message("{file} exists and was not written by {command}", "{file} 已存在，且不是由 {command} 写出的")
	OneStdin = message("--load - can be given once", "--load - 只能用一次")
	BadShell = message("completion needs one shell: bash, zsh, fish or powershell", "completion 需要指定一种 shell：bash、zsh、fish 或 powershell")
	TooMany  = message("{command} takes no arguments, got {value}", "{command} 不接受参数：{value}")
)
