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

	"workers":            message("Runs at a time", "同时运行的个数"),
	"timeout":            message("Limit of a run; then all of it gets TERM, later KILL; 0 means none", "单次运行的时限；到时向其全部进程发 TERM，随后 KILL；0 表示不限"),
	"max-tries":          message("Failures in a row after which an object is parked; 0 means no limit", "连续失败多少次后搁置；0 表示不限"),
	"backoff":            message("Pause after the first failure, doubled with each further one up to the second", "首次失败后的间隔..最长间隔；每次失败后加倍"),
	"resync":             message("Run for every object again this often, such as 10m; 0 means never", "每隔多久对所有对象再运行一次，如 10m；0 表示从不"),
	"debounce":           message("Wait until an object was quiet for this long, such as 200ms, at most ten times as long", "等对象安静这么久再运行，如 200ms，最多等十倍时间"),
	"fair-by":            message("Take turns by namespace, so that a busy one does not hold up others", "按 namespace 轮流，繁忙的不会拖住别的"),
	"on":                 message("Which changes lead to runs; without it all do", "哪些变化会引起运行；缺省为全部"),
	"when":               message("CEL expression over object and old: which changes lead to runs", "针对 object 和 old 的 CEL 表达式：哪些变化会引起运行"),
	"once":               message("Process what exists, retries included, then end", "处理现有对象（含重试）后结束"),
	"dry-run":            message("Say what would run and why, and run nothing", "只显示会运行什么、为什么，并不运行"),
	"state":              message("Keep parked objects and failure counts in this file", "把搁置的对象和失败次数保存在此文件中"),
	"stream":             message("Keep one program per worker running and send it a request a line", "每个 worker 保持一个常驻程序，每行发送一个请求"),
	"grace":              message("After Ctrl+C, how long runs under way may go on", "按 Ctrl+C 后，正在进行的运行还可持续多久"),
	"field-manager":      message("Name under which the program writes; it gets it as HARK_FIELD_MANAGER", "程序写入时使用的名字；通过 HARK_FIELD_MANAGER 传给它"),
	"hot-loop":           message("More runs of an object than this, each by its own change, are slowed down; 0 never does", "同一对象因自身修改而运行超过此频率时放慢；0 表示从不"),
	"run all-namespaces": message("Objects of all namespaces; it beats --namespace", "所有 namespace 的对象；优先于 --namespace"),

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
