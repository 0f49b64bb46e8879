package text

// flags says what each flag does, by its name, or by that of its command and its own
// where commands have different flags of one name. None has placeholders.
// Those of the connection are cli-runtime's; their English is our own, too, so
// that help speaks with one voice.
var flags = map[string]Message{
	"help":                message("Show this help", "显示帮助"),
	"lang":                message("Language: en or zh; without it LC_ALL, LC_MESSAGES and LANG decide", "语言：en 或 zh；缺省时由 LC_ALL、LC_MESSAGES、LANG 决定"),
	"color":               message("Colour: auto (on a terminal), always or never", "颜色：auto（仅终端）、always 或 never"),
	"output":              message("Output format", "输出格式"),
	"for":                 message("End after this time, such as 25s or 10m; 0 goes on until Ctrl+C", "运行多久后结束，如 25s、10m；0 表示直到 Ctrl+C"),
	"diff":                message("Show the changed fields of a modification", "显示修改了哪些字段"),
	"explain":             message("Say in a sentence what each event means", "用一句话说明每个事件"),
	"wait":                message("Wait for types and namespaces that do not exist yet", "等待尚不存在的资源类型和 namespace"),
	"no-wait":             message("Fail at once where there is no permission, or no such type or name", "没有权限，或者资源类型、名字不存在时，立即失败"),
	"show-managed-fields": message("Keep metadata.managedFields in objects", "保留对象的 metadata.managedFields"),
	"selector":            message("Label selector, such as app=web,tier!=cache", "标签选择器，如 app=web,tier!=cache"),
	"field-selector": message("Field selector, such as status.phase=Running",
		"字段选择器，如 status.phase=Running"),
	"addr":           message("Address to listen on, HOST:PORT; port 0 takes a free one", "监听的地址，HOST:PORT；端口 0 表示任选空闲端口"),
	"kubeconfig-out": message("Write the kubeconfig to this file, removed at the end; without it to a temporary file", "把 kubeconfig 写入此文件，结束时删除；缺省写入临时文件"),
	"load":           message("Objects to begin with: a YAML or JSON file, or - for standard input; may be repeated", "预先载入的对象：YAML 或 JSON 文件，- 表示标准输入；可重复"),
	"story":          message("Play scheduler, kubelets and controllers: pods run, Deployments have pods", "模拟调度器、kubelet 和控制器：Pod 会运行，Deployment 会有 Pod"),
	"tls":            message("Serve HTTPS, under a certificate that the kubeconfig trusts", "提供 HTTPS，kubeconfig 信任其证书"),
	"unsafe-any-address": message("Allow an --addr that other machines reach: whoever reaches it may do everything",
		"允许其他机器可达的 --addr：任何能访问它的人都拥有全部权限"),
	"all-namespaces": message("Watch all namespaces; it beats --namespace", "监听所有 namespace；优先于 --namespace"),

	"namespace":             message("Namespace; without it that of the context", "namespace；缺省用 context 中的"),
	"kubeconfig":            message("Path of the kubeconfig file", "kubeconfig 文件的路径"),
	"context":               message("Context of the kubeconfig", "使用 kubeconfig 中的哪个 context"),
	"cluster":               message("Cluster of the kubeconfig", "使用 kubeconfig 中的哪个 cluster"),
	"demo cluster":          message("Play on a real control plane, built from Go modules", "在真实的控制面上演示，由 Go 模块编译而成"),
	"user":                  message("User of the kubeconfig", "使用 kubeconfig 中的哪个 user"),
	"server":                message("Address and port of the API server", "API 服务器的地址和端口"),
	"token":                 message("Bearer token for the API server", "访问 API 服务器的 Bearer 令牌"),
	"as":                    message("User to impersonate", "以此用户的身份操作"),
	"as-uid":                message("UID to impersonate", "以此 UID 的身份操作"),
	"as-group":              message("Group to impersonate; may be repeated", "以此组的身份操作；可重复"),
	"as-user-extra":         message("Extra of the user to impersonate, NAME=VALUE; may be repeated", "所冒用身份的附加信息 NAME=VALUE；可重复"),
	"cache-dir":             message("Folder for what is cached", "缓存目录"),
	"client-certificate":    message("Path of a client certificate", "客户端证书的路径"),
	"client-key":            message("Path of a client key", "客户端私钥的路径"),
	"certificate-authority": message("Path of the certificate of the authority", "CA 证书的路径"),
	"tls-server-name":       message("Name to expect in the server's certificate", "校验服务器证书时使用的名字"),
	"request-timeout":       message("Limit for one request that is no watch, such as 5s; 0 means none", "单个请求（watch 除外）的时限，如 5s；0 表示不限"),
	"proxy-url":             message("Proxy for requests to the API server", "访问 API 服务器所用的代理"),
	"disable-compression": message("Do not ask for compressed answers",
		"不请求压缩的响应"),
	"insecure-skip-tls-verify": message("Do not check the server's certificate; this makes HTTPS insecure",
		"不校验服务器证书；会使 HTTPS 不安全"),
}

// Flag returns what the flag does, by a key of flags, and whether the catalogue says so.
func Flag(name string) (Message, bool) {
	m, ok := flags[name]
	return m, ok
}
