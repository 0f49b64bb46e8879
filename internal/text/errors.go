package text

// What goes wrong, and what to try. Errors that kubectl has words for are
// written in those words and are not here.
var (
	TryHelp        = message("{command} --help", "{command} --help")
	TryDemo        = message("{command} --kubeconfig PATH, or without a cluster: {demo} demo", "{command} --kubeconfig PATH；没有集群时：{demo} demo")
	TryServer      = message("kubectl cluster-info, to see whether the cluster runs and where; without a cluster: {demo} demo", "用 kubectl cluster-info 查看集群是否在运行、地址是什么；没有集群时：{demo} demo")
	TryContexts    = message("kubectl config get-contexts", "kubectl config get-contexts")
	TryKinds       = message("kubectl api-resources, or --wait to wait until the server has it", "kubectl api-resources；或加 --wait 一直等到它出现")
	TryNamespaces  = message("kubectl get namespaces, or --wait to wait until it exists", "kubectl get namespaces；或加 --wait 一直等到它出现")
	TryLogin       = message("kubectl auth whoami, then log in again or renew the token", "kubectl auth whoami，然后重新登录或更新令牌")
	TryCertificate = message("--certificate-authority PATH, or the kubeconfig that belongs to this cluster",
		"--certificate-authority PATH，或换用这个集群的 kubeconfig")
	TryCanI = message("try: kubectl auth can-i {verb} {resource}{scope}", "try: kubectl auth can-i {verb} {resource}{scope}")

	NoConfig = message("no kubeconfig was found: {looked}", "找不到 kubeconfig：{looked}")
	BadLang  = message("--lang must be en or zh, not {value}", "--lang 只能是 en 或 zh，不能是 {value}")
	BadColor = message("--color must be auto, always or never, not {value}", "--color 只能是 auto、always 或 never，不能是 {value}")
	BadFor   = message("--for must not be negative: {value}", "--for 不能是负数：{value}")
	BadShell = message("completion needs one shell: bash, zsh, fish or powershell", "completion 需要指定一种 shell：bash、zsh、fish 或 powershell")
	TooMany  = message("{command} takes no arguments, got {value}", "{command} 不接受参数：{value}")
)
