package contract

import (
	"context"
	"sync"
)

// way is the session in use and what became of address changes; under the load's lock.
type way struct {
	cond     *sync.Cond
	session  Session
	moving   bool
	moved    int       // changes asked for
	done     int       // changes after which the load went on
	later    []Session // sessions that took over
	moveFail error
}

// current returns the session to ask for objects.
func (w *way) current(lock *sync.Mutex) Session {
	lock.Lock()
	defer lock.Unlock()
	return w.session
}

// replaced waits until a change under way is over; it returns why the change failed.
func (w *way) replaced(lock *sync.Mutex, session Session) error {
	lock.Lock()
	defer lock.Unlock()
	for w.moving && w.session == session {
		w.cond.Wait()
	}
	return w.moveFail
}

func (w *way) metrics(moves int) map[string]float64 {
	if moves == 0 {
		return nil
	}
	values := map[string]float64{"moves_followed": float64(w.done), "moves_resumed": 0, "moves_early_data": 0}
	for _, session := range w.later {
		facts := session.Facts()
		if facts.Resumed {
			values["moves_resumed"]++
		}
		if facts.EarlyData {
			values["moves_early_data"]++
		}
	}
	return values
}

// furtherConnections counts those that address changes have cost.
func (w *way) furtherConnections() int {
	count := 0
	for _, session := range w.later {
		count += session.Facts().Connections
	}
	return count
}

// count notes that n bytes of an object came, and asks for a change of address when its time has come.
func (l *load) count(ctx context.Context, o *object, n int) {
	if l.Load.Moves == 0 {
		o.received += int64(n)
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	o.received += int64(n)
	if !l.way.moving && l.isMoveDue() {
		l.way.moving = true
		go l.move(ctx)
	}
}

// isMoveDue tells whether change i of n is due: i/(n+1) of all bytes have come. Objects whose length the
// server has not told yet are taken to be as long as the mean of the others.
func (l *load) isMoveDue() bool {
	var received, known, told float64
	for _, o := range l.objects {
		received += float64(o.received)
		if o.length >= 0 {
			known += float64(o.length)
			told++
		}
	}
	if told == 0 || l.way.moved >= l.Load.Moves {
		return false
	}
	total := known / told * float64(len(l.objects))
	return received >= total*float64(l.way.moved+1)/float64(l.Load.Moves+1)
}

func (l *load) move(ctx context.Context) {
	session := l.way.current(&l.mutex)
	next, err := l.changeAddress(ctx, session)
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err != nil {
		l.way.moveFail = err
	} else {
		l.way.note(session, next)
	}
	l.way.moved++
	l.way.moving = false
	l.way.cond.Broadcast()
	if err != nil || next != session {
		session.Abandon() // What still waits for it goes on with the next one, or learns why there is none.
	}
}

func (l *load) changeAddress(ctx context.Context, session Session) (Session, error) {
	address, err := askForMove()
	if err != nil {
		return nil, err
	}
	return l.Move(ctx, session, address)
}

func (w *way) note(session, next Session) {
	w.done++
	if next != session {
		w.session = next
		w.later = append(w.later, next)
	}
}
