package main

import (
	"cmp"
	"strings"
)

// catalogue holds what the command says in one language.
type catalogue struct {
	usage   string
	unknown string // the argument
	up      string // address, version, directory of the logs
	use     string
	down    string
}

var english = catalogue{
	usage: `A real Kubernetes control plane on this machine, built from Go modules.

  hark-cluster up [flags]   run one until Ctrl-C
  hark-cluster build        build what is missing (about 10 minutes the first time)
  hark-cluster path         print the directory of the binaries

Flags of up:
  --kubeconfig-out FILE     write the administrator's kubeconfig to FILE, removed at the end
  --nodes N                 kwok nodes (default 1)
  --feature-gates LIST      such as ShardedListAndWatch=true,WatchList=false
  --log-dir DIR             keep the logs of the servers in DIR
`,
	unknown: "hark-cluster: unexpected argument %q; hark-cluster help shows what there is\n",
	up:      "The control plane is ready: %s, Kubernetes %s, logs in %s\nIn another terminal:\n",
	use:     "kubectl get nodes\nCtrl-C ends it.\n",
	down:    "Ending the control plane.\n",
}

var chinese = catalogue{
	usage: `在本机运行一个真实的 Kubernetes 控制面，由 Go 模块编译而成。

  hark-cluster up [选项]    运行，按 Ctrl-C 结束
  hark-cluster build        编译缺少的程序（首次约 10 分钟）
  hark-cluster path         打印程序所在目录

up 的选项：
  --kubeconfig-out 文件     把管理员的 kubeconfig 写入该文件，结束时删除
  --nodes N                 kwok 节点数（缺省 1）
  --feature-gates 列表      例如 ShardedListAndWatch=true,WatchList=false
  --log-dir 目录            把各服务的日志保留在该目录
`,
	unknown: "hark-cluster：多余的参数 %q；hark-cluster help 列出用法\n",
	up:      "控制面已就绪：%s，Kubernetes %s，日志在 %s\n在另一个终端中：\n",
	use:     "kubectl get nodes\n按 Ctrl-C 结束。\n",
	down:    "正在结束控制面。\n",
}

// detect chooses the language by the first of LC_ALL, LC_MESSAGES and LANG that is
// set.
func detect(getenv func(string) string) catalogue {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")))
	if locale == "zh" || strings.HasPrefix(locale, "zh_") || strings.HasPrefix(locale, "zh-") || strings.HasPrefix(locale, "zh.") {
		return chinese
	}
	return english
}

// quote makes a word of a POSIX shell out of any text.
func quote(s string) string {
	plain := strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%") == ""
	if s != "" && plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
