// The items service on net/http, with TLS if TLS_CERT and TLS_KEY are set, like items.ts.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
)

type item struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type failure struct {
	Error string `json:"error"`
}

type store struct {
	lock  sync.RWMutex
	items map[string]item
	// In the order of insertion.
	ids []string
}

func main() {
	preload, err := strconv.Atoi(os.Getenv("PRELOAD"))
	if err != nil {
		log.Fatal(err)
	}
	items := &store{items: map[string]item{}}
	for id := 1; id <= preload; id++ {
		items.keep(item{strconv.Itoa(id), "Item " + strconv.Itoa(id)})
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /rpz/items", items.add)
	routes.HandleFunc("GET /rpz/items/{id}", items.find)
	routes.HandleFunc("GET /rpz/items", items.list)
	address := "127.0.0.1:" + os.Getenv("PORT")
	if cert, key := os.Getenv("TLS_CERT"), os.Getenv("TLS_KEY"); cert != "" {
		log.Fatal(http.ListenAndServeTLS(address, cert, key, routes))
	}
	log.Fatal(http.ListenAndServe(address, routes))
}

func (store *store) add(response http.ResponseWriter, request *http.Request) {
	var added item
	if err := json.NewDecoder(request.Body).Decode(&added); err != nil {
		reply(response, http.StatusBadRequest, failure{err.Error()})
		return
	}
	if added.ID == "" {
		reply(response, http.StatusBadRequest, failure{"not an item"})
		return
	}
	store.keep(added)
	reply(response, http.StatusCreated, added)
}

func (store *store) keep(added item) {
	store.lock.Lock()
	defer store.lock.Unlock()
	if _, known := store.items[added.ID]; !known {
		store.ids = append(store.ids, added.ID)
	}
	store.items[added.ID] = added
}

func (store *store) list(response http.ResponseWriter, request *http.Request) {
	store.lock.RLock()
	defer store.lock.RUnlock()
	limit := len(store.ids)
	if text := request.URL.Query().Get("limit"); text != "" {
		number, err := strconv.Atoi(text)
		if err != nil || number < 1 {
			reply(response, http.StatusBadRequest, failure{"limit is wrong"})
			return
		}
		limit = min(limit, number)
	}
	listed := make([]item, limit)
	for at, id := range store.ids[:limit] {
		listed[at] = store.items[id]
	}
	reply(response, http.StatusOK, listed)
}

func (store *store) find(response http.ResponseWriter, request *http.Request) {
	store.lock.RLock()
	found, ok := store.items[request.PathValue("id")]
	store.lock.RUnlock()
	if !ok {
		reply(response, http.StatusNotFound, failure{"there is no such item"})
		return
	}
	reply(response, http.StatusOK, found)
}

func reply(response http.ResponseWriter, status int, content any) {
	body, err := json.Marshal(content)
	if err != nil {
		log.Fatal(err)
	}
	response.Header().Set("Content-Type", "application/json")
	response.Header().Set("Content-Length", strconv.Itoa(len(body)))
	response.WriteHeader(status)
	response.Write(body)
}
