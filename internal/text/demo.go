package text

// What hark demo tells.
var (
	DemoIntro = message("An API server runs in this process. From another terminal: kubectl --kubeconfig {path} get pods -w",
		"本进程内运行着一个 API 服务器。可在另一个终端输入：kubectl --kubeconfig {path} get pods -w")

	DemoPodTitle = message("1/4 A pod comes, runs and goes. Nobody asks: the cluster tells (Watch → Reflector → Store → handler)",
		"1/4 一个 Pod 创建、运行、消失。不用问，集群主动告诉你（Watch → Reflector → Store → 回调）")
	DemoPodDone = message("Each line is one event of one watch; nothing was polled.", "每一行都是同一个 watch 上的一个事件，没有任何轮询。")

	DemoBurstTitle = message("2/4 A burst: {changes} changes to the one key {key} (the queue holds a key once, however often it is added)",
		"2/4 一大波变化：同一个 key {key} 连续修改 {changes} 次（同一个 key 在队列里只排一次）")
	DemoBurstDone = message("{changes} changes in {duration}: {events} {events:event|events} arrived, the handler added the key {adds} {adds:time|times}, the worker ran {runs} {runs:time|times}. Its last run read change {last}.",
		"{duration} 内修改 {changes} 次：收到 {events} 个事件，回调入队 {adds} 次，worker 只运行了 {runs} 次；最后一次读到的是第 {last} 次修改。")
	DemoBurstWhy = message("While the handler is busy, further events of a key wait for it as one; while the worker is busy, the key waits in the queue once. Whoever comes next reads the newest state.",
		"回调正忙时，同一个 key 的后续事件合并成一个等着它；worker 正忙时，这个 key 在队列里也只排一次。轮到谁，谁读到的都是最新状态。")

	DemoRetryTitle = message("3/4 A key that fails is retried: {key} needs {missing}, which does not exist yet",
		"3/4 失败自动重试：{key} 需要 {missing}，而它还不存在")
	DemoTryFailed = message("try {try} failed: {error}", "第 {try} 次失败：{error}")
	DemoTryAgain  = message("try {try}, {gap} later, failed: {error}", "{gap} 之后第 {try} 次失败：{error}")
	DemoTryDone   = message("try {try}, {gap} later, succeeded; the failures are forgotten", "{gap} 之后第 {try} 次成功，失败计数清零")

	DemoControllerTitle = message("4/4 A controller: it wants {wanted} replicas of each Deployment in {namespace}, and {key} is created with {replicas}",
		"4/4 一个控制器：它要求 {namespace} 里每个 Deployment 都有 {wanted} 个副本，而 {key} 创建时只有 {replicas} 个")
	DemoControllerStarts = message("controller: started", "控制器：启动")
	DemoScaling          = message("controller: {key} has replicas={replicas}, wants {wanted}: calling the API",
		"控制器：{key} 现有 replicas={replicas}，期望 {wanted}：调用 API 对齐")
	DemoRejected = message("controller: {key} is tried again: {error}", "控制器：{key} 稍后重试：{error}")
	DemoInOrder  = message("controller: {key} has replicas={replicas}: nothing to do", "控制器：{key} 已有 replicas={replicas}：无事可做")

	DemoYourTurn  = message("All four parts were played. It is your turn:", "四个部分演示完毕。现在轮到你：")
	DemoShown     = message("What happens to pods and Deployments of the namespace {namespace} is shown here; the controller stays at work.", "namespace {namespace} 中 Pod 和 Deployment 的变化会显示在这里，控制器继续工作。")
	DemoGoesOn    = message("Ctrl+C to quit", "Ctrl+C 退出")
	DemoGoesOnFor = message("It goes on for another {time} (--for {limit}). Ctrl+C to quit", "还会继续 {time}（--for {limit}）。Ctrl+C 退出")
	DemoTimeUp    = message("The time is up (--for). The demo has ended.", "时间到（--for），演示结束。")
	DemoCutShort  = message("The time is up; the whole play takes about {seconds} s.", "时间到；完整演示大约需要 {seconds} 秒。")
	DemoStuck     = message("the demo did not get further within {time} in part {part}: {reason}", "演示的第 {part} 部分在 {time} 内没有进展：{reason}")
)
