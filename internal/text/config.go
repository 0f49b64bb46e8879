package text

// What is wrong with a configuration, and what to try.
var (
	TryAs        = message("--as USER beside it: a group, UID or extra belongs to a user", "同时指定 --as USER：组、UID 和附加信息都属于某个用户")
	TryTimeout   = message("--request-timeout 5s", "--request-timeout 5s")
	TryProxy     = message("--proxy-url http://HOST:PORT", "--proxy-url http://HOST:PORT")
	TryServerURL = message("--server https://HOST:PORT", "--server https://HOST:PORT")
	TryFiles     = message("paths of files that exist, for --certificate-authority, --client-certificate and --client-key and for those in the kubeconfig",
		"检查 --certificate-authority、--client-certificate、--client-key 以及 kubeconfig 中的路径，文件必须存在")
	NoAnswer = message("no answer within {time}", "{time} 内没有应答")
)

// ConfigPlaces are the parts of the phrases with which kube says where it looked
// for a configuration.
var ConfigPlaces = []Message{
	message(" (not set)", "（未设置）"),
	message(" (does not exist)", "（不存在）"),
	message(" (cannot be read)", "（无法读取）"),
	message(" (names no cluster)", "（没有写明集群）"),
	message("default file ", "默认文件 "),
	message("in-cluster service account (not in a pod)", "集群内的 service account（不在 Pod 中）"),
}
