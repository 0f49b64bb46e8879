package wire

func scanProtobuf(raw []byte, m *Meta) error { return nil }
func scanJSON(raw []byte, m *Meta) error { return nil }
