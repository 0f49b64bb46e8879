package wire

// scanStatusJSON reads a Status, and the kind that the document says it is.
func scanStatusJSON(body []byte, status *Status) (kind string, err error) {
	s := scanner{buf: body}
	if s.token() != '{' {
		s.unexpected("an object")
		return "", s.err
	}
	s.open()
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		if name := s.name(key); name == "kind" {
			s.stringValue(&kind, "kind")
		} else {
			s.statusMember(name, status)
		}
	}
	if s.err == nil {
		s.end()
	}
	return kind, s.err
}

// statusMember consumes the value of one member of a Status.
func (s *scanner) statusMember(name string, status *Status) {
	switch name {
	case "message":
		s.stringValue(&status.Message, "a status's message")
	case "reason":
		s.stringValue(&status.Reason, "a status's reason")
	case "code":
		s.integer32Value(&status.Code, "a status's code")
	case "details":
		s.statusDetails(status)
	default:
		s.skip()
	}
}

func (s *scanner) statusDetails(status *Status) {
	if s.peek() == 'n' {
		status.Causes, status.RetryAfterSeconds = nil, 0 // a pointer to both
	}
	if !s.enterObject("a status's details") {
		return
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		switch s.name(key) {
		case "retryAfterSeconds":
			s.integer32Value(&status.RetryAfterSeconds, "a status's retryAfterSeconds")
		case "causes":
			s.causes(status)
		default:
			s.skip()
		}
	}
}

func (s *scanner) causes(status *Status) {
	status.Causes = nil
	if s.null() || s.err != nil {
		return
	}
	if s.peek() != '[' {
		s.wrongType("a status's causes", "an array")
		return
	}
	s.open()
	for ok := s.element(true); ok; ok = s.element(false) {
		status.Causes = append(status.Causes, s.cause())
	}
}

// cause consumes one cause and returns its reason.
func (s *scanner) cause() (reason string) {
	if !s.enterObject("a status's cause") {
		return ""
	}
	for key, ok := s.member(true); ok; key, ok = s.member(false) {
		if s.name(key) == "reason" {
			s.stringValue(&reason, "a cause's reason")
		} else {
			s.skip()
		}
	}
	return reason
}

func (s *scanner) integer32Value(dst *int32, name string) {
	wide := int64(*dst)
	s.integerValue(&wide, 32, name)
	*dst = int32(wide)
}
