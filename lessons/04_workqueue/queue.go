package main

import "sync"

// MiniQueue is a work queue in the standard library's means alone: the idea of
// client-go's and Hark's without delays, backoff, priorities and metrics.
//
// Its three collections answer three questions. A key that is added while a
// worker has it is dirty but not queued: it is queued when the worker is done.
// So no change is forgotten, and no key is ever with two workers.
//
//	Add ──► dirty + queue ──Get──► processing ──Done──► gone
//	Add while processing ──► dirty ──────────────Done──► queue
//
// Use NewMiniQueue. All methods are safe for concurrent use.
type MiniQueue struct {
	// mu guards what follows; changed is told when a Get may go on.
	mu         sync.Mutex
	changed    *sync.Cond
	queue      []string            // whose turn is it? keys to be handed out, each once
	dirty      map[string]struct{} // who needs work? queued, or to be queued after Done
	processing map[string]struct{} // who is with a worker?
	shutDown   bool
}

// NewMiniQueue returns an empty queue.
func NewMiniQueue() *MiniQueue {
	q := &MiniQueue{dirty: map[string]struct{}{}, processing: map[string]struct{}{}}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Add asks for work on a key. Asking again before a worker has taken it changes
// nothing; asking while a worker has it leads to one more run.
func (q *MiniQueue) Add(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shutDown || has(q.dirty, key) {
		return
	}
	q.dirty[key] = struct{}{}
	if !has(q.processing, key) {
		q.push(key)
	}
}

// Get blocks until a key is queued, and hands it out: Done must follow. It
// returns shutdown once the queue is shut down and empty.
func (q *MiniQueue) Get() (key string, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 && !q.shutDown {
		q.changed.Wait()
	}
	if len(q.queue) == 0 {
		return "", true
	}
	key, q.queue = q.queue[0], q.queue[1:]
	q.processing[key] = struct{}{}
	delete(q.dirty, key) // from here on, an Add tells of something new
	return key, false
}

// Done gives a key back. If it was added meanwhile it is queued again.
func (q *MiniQueue) Done(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !has(q.processing, key) {
		return // nobody has it: queueing it here would queue it twice
	}
	delete(q.processing, key)
	if has(q.dirty, key) {
		q.push(key)
	}
}

// Len is the number of keys that Get would hand out now.
func (q *MiniQueue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue)
}

// ShutDown refuses new keys. What is queued can still be got; then every Get
// returns.
func (q *MiniQueue) ShutDown() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.shutDown = true
	q.changed.Broadcast()
}

// push is called with mu held.
func (q *MiniQueue) push(key string) {
	q.queue = append(q.queue, key)
	q.changed.Signal()
}

func has(set map[string]struct{}, key string) bool {
	_, ok := set[key]
	return ok
}
