// Package hook is how "hark run" talks to a program: what it is asked, what it
// may answer, and the two ways to ask.
//
// Once starts the program for each request: the request is one JSON document on
// stdin, in short also the HARK_* variables of its environment; the exit code
// answers, and the last line of stdout may:
//
//	exit code 0    done
//	exit code 75   try again later: no failure (EX_TEMPFAIL of sysexits.h)
//	exit code 100  permanent: the object is left alone until it changes
//	any other      failed, to be tried again with a growing pause
//	{"requeueAfter":"30s"}  with 0: run again after that time
//	{"park":"reason"}       with 0 or 100: as 100, for that reason
//
// Stream keeps programs running and sends each a request after the other, one
// line each; a program answers each with one line:
//
//	{}                      done
//	{"requeueAfter":"30s"}  done, run again after that time
//	{"park":"reason"}       permanent
//	{"retry":true}          try again later: no failure
//	{"error":"what"}        failed
//
// A line that is not exactly such an object is output like any other, so that a
// program may log, JSON too. What a program writes is passed on line by line as
// it comes; nothing of it is kept but the beginning of the last line.
package hook
