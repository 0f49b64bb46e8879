package serve

// Spec says what is served: the first objects of a set, and changes of them.
type Spec struct {
	Set string // pods, lone, configmaps or widgets
	// Objects are there at first. The first Warm ones of the Changes are for
	// warming up.
	Objects, Changes, Warm int
}

// order is one line to the server; one field is set.
type order struct {
	Feed    *Spec
	Release int
	// Hold makes the server hold so many pods itself, in the namespace default.
	Hold int
}

// answer is the line that follows an order, and the first line of all.
type answer struct {
	URL string
	// Last is the key of the object that the last change is of: namespace, name.
	Last  [2]string
	Error string
}
