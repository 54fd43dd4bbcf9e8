package main

import (
	"fmt"

	"howquick/contract"
	"howquick/stack"
)

// leastUrgent of the eight classes of RFC 9218, section 4.1, of which 0 is the most urgent.
const leastUrgent = 7

// priorities returns the header field `priority` of each of a page's paths, as option urgency says; nil: none is sent.
func priorities(settings contract.Settings, load contract.LoadSettings, urgency string) (map[string]string, error) {
	if urgency == stack.NoUrgency {
		return nil, nil
	}
	if settings.Protocol == "hq" {
		return nil, contract.NotSupported("OPTION_URGENCY=%s with PROTOCOL=hq", urgency)
	}
	if load.Steered {
		return nil, contract.NotSupported("OPTION_URGENCY=%s with FETCH=steered", urgency)
	}
	fields := make(map[string]string)
	for index, path := range load.Paths {
		fields[path] = priorityOf(urgency, index, len(load.Paths)-1)
	}
	return fields, nil
}

// priorityOf is the field of the HTML (index 0) or of one of the objects that share the classes behind its own.
func priorityOf(urgency string, index, objects int) string {
	before := index - 1
	if urgency == stack.Reverse {
		before = objects - index
	}
	switch {
	case urgency == stack.Incremental:
		return "u=3, i"
	case index == 0:
		return "u=0"
	}
	return fmt.Sprintf("u=%d", 1+before*leastUrgent/objects)
}
