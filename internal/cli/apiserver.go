package cli

import (
	"context"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gocampus/hark/internal/text"
)

// defaultAddr is a free port of this machine alone.
const defaultAddr = "127.0.0.1:0"

// apiServerFlags are the flags of "hark apiserver".
type apiServerFlags struct {
	addr       string
	anyAddress bool
	open       bool // addr can be reached from other machines; set by the check
	kubeconfig string
	load       []string
	story      bool
	replay     bool
	speed      string
	tls        bool
	output     string
	limit      *time.Duration
}

// newAPIServer is "hark apiserver".
func newAPIServer(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "apiserver [flags]",
		Short:   s.say(text.APIServerShort),
		Long:    s.say(text.APIServerLong),
		Example: s.say(text.APIServerExamples, "command", s.command),
		Args:    s.noArguments,
	}
	f := &apiServerFlags{limit: addForFlag(cmd)}
	flags := cmd.Flags()
	flags.StringVar(&f.addr, "addr", defaultAddr, "")
	flags.BoolVar(&f.anyAddress, "unsafe-any-address", false, "")
	flags.StringVar(&f.kubeconfig, "kubeconfig-out", "", "")
	flags.StringArrayVar(&f.load, "load", nil, "")
	flags.BoolVar(&f.story, "story", false, "")
	flags.BoolVar(&f.replay, "replay", false, "")
	addSpeedFlag(cmd, &f.speed)
	flags.BoolVar(&f.tls, "tls", false, "")
	flags.StringVarP(&f.output, "output", "o", "text", "")
	annotate(cmd, "output", valueWords, "text|json")
	completeWords(cmd, "output", "text", "json")
	completePaths(cmd, "kubeconfig-out", "load")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return s.apiServer(cmd, f) }
	return cmd
}

// apiServer checks what was typed, then serves until it is told to end.
func (s *session) apiServer(cmd *cobra.Command, f *apiServerFlags) error {
	if err := s.checkAPIServer(cmd, f); err != nil {
		return err
	}
	ctx, cancel, err := s.limited(cmd, *f.limit)
	if err != nil {
		return err
	}
	defer cancel()
	return s.ended(ctx, s.serve(ctx, f))
}

// checkAPIServer checks the flags and puts an address in the place of a name.
func (s *session) checkAPIServer(cmd *cobra.Command, f *apiServerFlags) error {
	if f.output != "text" && f.output != "json" {
		return s.badOutput(cmd, f.output)
	}
	if _, err := s.parseSpeed(cmd, f.speed); err != nil {
		return err
	}
	isStdin := func(path string) bool { return path == standardInput }
	if first := slices.IndexFunc(f.load, isStdin); first >= 0 && slices.ContainsFunc(f.load[first+1:], isStdin) {
		return usageError(s.say(text.OneStdin), s.tryHelp(cmd))
	}
	addr, err := resolve(cmd.Context(), f.addr)
	if err != nil {
		return usageError(s.say(text.BadAddr, "reason", err.Error()), s.tryHelp(cmd))
	}
	f.open = !addr.IP.IsLoopback()
	if f.open && !f.anyAddress {
		local := net.JoinHostPort("127.0.0.1", fmt.Sprint(addr.Port))
		try := s.say(text.TryLocalAddr, "command", cmd.CommandPath(), "addr", local)
		return usageError(s.say(text.OpenAddr, "addr", f.addr), try)
	}
	f.addr = addr.String()
	return nil
}

// resolve finds the address of HOST:PORT. An empty host stands for all addresses
// of the machine.
func resolve(ctx context.Context, addr string) (*net.TCPAddr, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "tcp", service)
	if err != nil {
		return nil, err
	}
	if host == "" {
		return &net.TCPAddr{Port: port}, nil
	}
	found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
	if err != nil {
		return nil, err
	}
	best := slices.MinFunc(found, func(a, b net.IPAddr) int { return distance(a.IP) - distance(b.IP) })
	return &net.TCPAddr{IP: best.IP, Port: port, Zone: best.Zone}, nil
}

// distance orders the addresses of one name: this machine's own come first, and
// of these the one that every client tries.
func distance(ip net.IP) int {
	switch {
	case !ip.IsLoopback():
		return 2
	case ip.To4() == nil:
		return 1
	}
	return 0
}
