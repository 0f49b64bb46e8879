// Package cli is the hark command: flags, help, errors and what they exit with.
//
// Main runs one invocation inside the process, so that tests call it as a shell
// calls the program. Exit codes: 0 when done, or ended by Ctrl+C after
// everything was written; 1 for an error; 2 for wrong usage; 130 when a second
// Ctrl+C ends the program at once. Errors are one line in kubectl's words, then,
// where there is something to try, a line that begins with "try:".
//
// What commands do lives below: follow watches and prints, demo plays.
package cli
