package text

// What hark watch says on stderr.
var (
	WatchingNamespace = message("Watching {kinds} events in namespace={namespace}, Ctrl+C to quit", "监听 namespace={namespace} 的 {kinds} 事件，Ctrl+C 退出")
	WatchingAll       = message("Watching {kinds} events in all namespaces, Ctrl+C to quit", "监听所有 namespace 的 {kinds} 事件，Ctrl+C 退出")
	WatchingCluster   = message("Watching {kinds} events, Ctrl+C to quit", "监听 {kinds} 事件，Ctrl+C 退出")

	ExistedAlready = message("The {kind} existed already", "{kind} 原本就在")
	BeingDeleted   = message("; it is being deleted", "，正在被删除") // after another sentence

	ReasonCut     = message("it was cut", "连接被切断")
	ReasonRefused = message("connection refused by {server}", "{server} 拒绝连接")
	ReasonNoHost  = message("no such host {host}", "找不到主机 {host}")
	ReasonSilent  = message("the server does not answer", "服务器没有应答")

	Try            = message("try: {command}", "try: {command}")
	CanI           = message("kubectl auth can-i {verb} {resource}{scope}", "kubectl auth can-i {verb} {resource}{scope}")
	TryClusterInfo = message("try: kubectl cluster-info, to see whether the cluster runs", "try: 用 kubectl cluster-info 查看集群是否在运行")

	TryFolder = message("TMPDIR=FOLDER {command}, with a folder that can be written; {folder} cannot", "TMPDIR=FOLDER {command}，换一个可写的目录；{folder} 不可写")

	WaitingForKind      = message("waiting for the resource type {kind}: {reason}", "等待资源类型 {kind} 出现：{reason}")
	WaitingForNamespace = message("waiting for the namespace {namespace}: it does not exist yet", "等待 namespace {namespace} 出现：它还不存在")
	WaitingForName      = message("waiting for {name}: it does not exist yet", "等待 {name} 出现：它还不存在")
	KindAppeared        = message("the server has the resource type {kind} now", "资源类型 {kind} 已出现")
	NamespaceAppeared   = message("the namespace {namespace} exists now", "namespace {namespace} 已出现")

	ConnectionLost = message("{kind}: the connection is lost, reconnecting: {reason}", "{kind}：连接断开，正在重连：{reason}")
	Throttled      = message("{kind}: the server asks for patience, trying again: {reason}", "{kind}：服务器繁忙，稍后重试：{reason}")
	Forbidden      = message("{kind}: no permission; trying again until there is: {reason}", "{kind}：没有权限；会一直重试，直到获得权限：{reason}")
	Unauthorized   = message("{kind}: the server does not accept the credentials, trying again: {reason}", "{kind}：服务器不接受当前凭据，正在重试：{reason}")
	KindGone       = message("{kind}: the server does not have this resource, waiting for it: {reason}", "{kind}：服务器上没有这个资源，等待它出现：{reason}")
	Malformed      = message("{kind}: the server's answer cannot be read, reconnecting: {reason}", "{kind}：无法读懂服务器的响应，正在重连：{reason}")
	Expired        = message("{kind}: the server no longer has the version to go on from, listing anew: {reason}", "{kind}：服务器已没有续传所需的版本，重新列出全量：{reason}")
	OtherFailure   = message("{kind}: that failed, trying again: {reason}", "{kind}：出错，正在重试：{reason}")
	Connected      = message("{kind}: back to normal; what was missed follows", "{kind}：已恢复正常，错过的变化会补上")
	BadObject      = message("{kind}: an object cannot be read and is left out: {reason}", "{kind}：有一个对象无法读取，已跳过：{reason}")
	Undecodable    = message("{kind} {key} cannot be decoded: {reason}", "{kind} {key} 无法解码：{reason}")
	Merged         = message("output is slower than the cluster: some changes of one object are shown as one", "输出跟不上集群的变化：同一对象的若干变化被合并显示")
)
