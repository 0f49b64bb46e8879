// Package follow is what "hark watch" does: it keeps an informer on each of the
// things to watch, prints what they tell, and says on a second stream what
// becomes of the connections.
//
// Every change that the server has is printed once: nothing is asked of the
// server twice for one kind, and an event is printed before the next one is
// taken. Output that is slower than the cluster is waited for; beyond a bound of
// waiting events, changes of one object are merged, which is said.
package follow
