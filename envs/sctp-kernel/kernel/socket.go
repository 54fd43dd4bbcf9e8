// Package kernel is SCTP as the kernel has it (RFC 6458): associations in one-to-one style.
package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// Of linux/sctp.h and linux/in.h.
const (
	protocolSCTP   = 132
	levelSCTP      = 132
	optionInit     = 2
	optionNoDelay  = 3
	optionReceive  = 32 // SCTP_RECVRCVINFO
	messageSend    = 2  // SCTP_SNDINFO
	messageReceive = 3  // SCTP_RCVINFO
	sendInfoBytes  = 16
	// Stream of a message in both structures: their first two bytes.
	streamBytes = 2
	// An answer may take several streams, and each request of a page others.
	streamsAsked = 65535
)

// Patience bounds the beginning of an association, of which the kernel tries each step again after 3 s, 6 s and so on.
const Patience = time.Minute

// Socket is an SCTP socket. Reads and writes wait by the runtime's poller.
type Socket struct {
	file *os.File
	raw  syscall.RawConn
}

func newSocket(descriptor int, name string) (*Socket, error) {
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		syscall.Close(descriptor)
		return nil, err
	}
	file := os.NewFile(uintptr(descriptor), name)
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, err
	}
	return &Socket{file, raw}, nil
}

// open makes a socket with buffers of so many bytes (0: as the kernel makes them).
func open(bufferBytes int) (int, error) {
	descriptor, err := syscall.Socket(
		syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, protocolSCTP)
	if errors.Is(err, syscall.EPROTONOSUPPORT) || errors.Is(err, syscall.ESOCKTNOSUPPORT) {
		return -1, errors.New("this kernel has no SCTP; that of virtual time has it")
	}
	if err != nil {
		return -1, fmt.Errorf("socket: %w", err)
	}
	if err := configure(descriptor, bufferBytes); err != nil {
		syscall.Close(descriptor)
		return -1, err
	}
	return descriptor, nil
}

func configure(descriptor, bufferBytes int) error {
	var streams [8]byte // struct sctp_initmsg: outgoing and incoming streams, attempts, longest timeout
	binary.NativeEndian.PutUint16(streams[0:], streamsAsked)
	binary.NativeEndian.PutUint16(streams[2:], streamsAsked)
	err := errors.Join(
		syscall.SetsockoptString(descriptor, levelSCTP, optionInit, string(streams[:])),
		syscall.SetsockoptInt(descriptor, levelSCTP, optionNoDelay, 1),
		syscall.SetsockoptInt(descriptor, levelSCTP, optionReceive, 1),
	)
	if bufferBytes > 0 {
		err = errors.Join(err,
			syscall.SetsockoptInt(descriptor, syscall.SOL_SOCKET, syscall.SO_RCVBUF, bufferBytes),
			syscall.SetsockoptInt(descriptor, syscall.SOL_SOCKET, syscall.SO_SNDBUF, bufferBytes))
	}
	if err != nil {
		return fmt.Errorf("options of the socket: %w", err)
	}
	return nil
}

// Listen accepts associations at an address.
func Listen(at netip.AddrPort, bufferBytes int) (*Socket, error) {
	descriptor, err := open(bufferBytes)
	if err != nil {
		return nil, err
	}
	err = syscall.SetsockoptInt(descriptor, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(descriptor, socketAddress(at))
	}
	if err == nil {
		err = syscall.Listen(descriptor, syscall.SOMAXCONN)
	}
	if err != nil {
		syscall.Close(descriptor)
		return nil, fmt.Errorf("listen at %s: %w", at, err)
	}
	return newSocket(descriptor, "sctp listener")
}

// Accept waits for the next association.
func (s *Socket) Accept() (*Socket, error) {
	var descriptor int
	var failure error
	err := s.raw.Read(func(own uintptr) bool {
		descriptor, _, failure = syscall.Accept4(int(own), syscall.SOCK_CLOEXEC)
		return !isAgain(failure)
	})
	if err = errors.Join(err, failure); err != nil {
		return nil, err
	}
	return newSocket(descriptor, "sctp association")
}

// Dial begins an association; local may be the zero address.
func Dial(to netip.AddrPort, local netip.Addr, bufferBytes int) (*Socket, error) {
	descriptor, err := open(bufferBytes)
	if err != nil {
		return nil, err
	}
	if local.IsValid() {
		err = syscall.Bind(descriptor, socketAddress(netip.AddrPortFrom(local, 0)))
	}
	if err == nil {
		err = connect(descriptor, to)
	}
	if err != nil {
		syscall.Close(descriptor)
		return nil, fmt.Errorf("no association with %s: %w", to, err)
	}
	return newSocket(descriptor, "sctp association")
}

// connect waits in the kernel: SO_SNDTIMEO bounds it (socket(7)).
func connect(descriptor int, to netip.AddrPort) error {
	limit := syscall.NsecToTimeval(int64(Patience))
	if err := syscall.SetsockoptTimeval(descriptor, syscall.SOL_SOCKET, syscall.SO_SNDTIMEO, &limit); err != nil {
		return err
	}
	err := syscall.Connect(descriptor, socketAddress(to))
	if errors.Is(err, syscall.EINPROGRESS) || isAgain(err) {
		return fmt.Errorf("nothing from it for %v", Patience)
	}
	return err
}

func socketAddress(at netip.AddrPort) syscall.Sockaddr {
	return &syscall.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}
}

// Send sends one message on a stream.
func (s *Socket) Send(stream uint16, message []byte) error {
	control := make([]byte, syscall.CmsgSpace(sendInfoBytes))
	header := control[:syscall.SizeofCmsghdr]
	binary.NativeEndian.PutUint64(header[0:], uint64(syscall.CmsgLen(sendInfoBytes)))
	binary.NativeEndian.PutUint32(header[8:], levelSCTP)
	binary.NativeEndian.PutUint32(header[12:], messageSend)
	binary.NativeEndian.PutUint16(control[syscall.CmsgLen(0):], stream)
	var failure error
	err := s.raw.Write(func(own uintptr) bool {
		// A message is sent whole or not at all.
		_, failure = syscall.SendmsgN(int(own), message, control, nil, syscall.MSG_NOSIGNAL)
		return !isAgain(failure)
	})
	return errors.Join(err, failure)
}

// Receive returns bytes of the next message and its stream; 0 bytes mean that the peer has ended.
func (s *Socket) Receive(into []byte) (int, uint16, error) {
	var control [128]byte
	var read, controlBytes int
	var failure error
	err := s.raw.Read(func(own uintptr) bool {
		read, controlBytes, _, _, failure = syscall.Recvmsg(int(own), into, control[:], 0)
		return !isAgain(failure)
	})
	if err = errors.Join(err, failure); err != nil || read == 0 {
		return 0, 0, err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controlBytes])
	if err != nil {
		return 0, 0, err
	}
	for _, one := range messages {
		if one.Header.Level == levelSCTP && one.Header.Type == messageReceive && len(one.Data) >= streamBytes {
			return read, binary.NativeEndian.Uint16(one.Data), nil
		}
	}
	return 0, 0, errors.New("a message without its stream")
}

// Close shuts the association down; what was sent is still delivered.
func (s *Socket) Close() error { return s.file.Close() }

// Abort ends the association at once, without a word about what is under way.
func (s *Socket) Abort() error {
	var failure error
	err := s.raw.Control(func(own uintptr) {
		failure = syscall.SetsockoptLinger(
			int(own), syscall.SOL_SOCKET, syscall.SO_LINGER, &syscall.Linger{Onoff: 1})
	})
	return errors.Join(err, failure, s.file.Close())
}

func isAgain(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR)
}
