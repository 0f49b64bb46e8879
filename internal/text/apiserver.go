package text

// What hark apiserver says.
var (
	APIServerReady = message("API server {url}, kubeconfig {path}; Ctrl+C to quit", "API 服务器 {url}，kubeconfig {path}；Ctrl+C 退出")
	APIServerOpen  = message("Warning: whoever reaches {addr} may do everything on this server.", "警告：任何能访问 {addr} 的人都对本服务器拥有全部权限。")
	TryKubectl     = message("try: kubectl --kubeconfig {path} get namespaces", "try: kubectl --kubeconfig {path} get namespaces")
)
