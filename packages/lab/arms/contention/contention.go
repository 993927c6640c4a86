// Counts to `increments` in `tasks` goroutines on GOMAXPROCS threads, and answers the total, like
// server.ts.
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

// 128 bytes, since processors fetch lines of 64 bytes in pairs.
type shard struct {
	value int64
	_     [120]byte
}

type count func(task int, increments int)

// Each returns a counter for one run, and a function that returns its total.
var counters = map[string]func(shards int) (count, func() int64){
	"mutex":          byMutex,
	"atomic":         byAtomic,
	"sharded-atomic": byAtomicShards,
	"sharded-plain":  byPlainShards,
}

func main() {
	counter, ok := counters[os.Getenv("WAY")]
	if !ok {
		log.Fatalf("unknown counter %q", os.Getenv("WAY"))
	}
	http.HandleFunc("/ready", func(response http.ResponseWriter, _ *http.Request) { fmt.Fprint(response, "ready") })
	http.HandleFunc("/run", func(response http.ResponseWriter, request *http.Request) {
		number := func(name string) int {
			value, _ := strconv.Atoi(request.URL.Query().Get(name))
			return value
		}
		body := fmt.Sprintf(`{"total":%d}`, run(counter, number("increments"), number("tasks"), number("shards")))
		response.Header().Set("Content-Type", "application/json")
		response.Header().Set("Content-Length", strconv.Itoa(len(body)))
		fmt.Fprint(response, body)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func run(counter func(int) (count, func() int64), increments, tasks, shards int) int64 {
	count, total := counter(shards)
	var group sync.WaitGroup
	for task := range tasks {
		share := increments / tasks
		if task < increments%tasks {
			share++
		}
		group.Go(func() { count(task, share) })
	}
	group.Wait()
	return total()
}

func byMutex(int) (count, func() int64) {
	var lock sync.Mutex
	var value int64
	return func(_, increments int) {
		for range increments {
			lock.Lock()
			value++
			lock.Unlock()
		}
	}, func() int64 { return value }
}

func byAtomic(int) (count, func() int64) {
	var value atomic.Int64
	return func(_, increments int) {
		for range increments {
			value.Add(1)
		}
	}, value.Load
}

func byAtomicShards(shards int) (count, func() int64) {
	cells := make([]shard, shards)
	return func(task, increments int) {
		cell := &cells[task%shards].value
		for range increments {
			atomic.AddInt64(cell, 1)
		}
	}, sum(cells)
}

// Correct only if no two goroutines share a shard. The total shows it.
func byPlainShards(shards int) (count, func() int64) {
	cells := make([]shard, shards)
	return func(task, increments int) {
		cell := &cells[task%shards].value
		for range increments {
			*cell++
		}
	}, sum(cells)
}

func sum(cells []shard) func() int64 {
	return func() (total int64) {
		for at := range cells {
			total += cells[at].value
		}
		return total
	}
}
