// The items service on net/http, with TLS when TLS_CERT and TLS_KEY are set: the same as items.ts.
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
	ID    string   `json:"id"`
	Name  string   `json:"name"`
	Cents int      `json:"cents"`
	Tags  []string `json:"tags"`
}

type failure struct {
	Error string `json:"error"`
}

type store struct {
	lock  sync.RWMutex
	items map[string]item
}

func main() {
	var first item
	if err := json.Unmarshal([]byte(os.Getenv("ITEM")), &first); err != nil {
		log.Fatal(err)
	}
	items := &store{items: map[string]item{first.ID: first}}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /rpz/items", items.add)
	routes.HandleFunc("GET /rpz/items/{id}", items.find)
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
	if added.ID == "" || added.Name == "" || added.Tags == nil {
		reply(response, http.StatusBadRequest, failure{"that is no item"})
		return
	}
	store.lock.Lock()
	store.items[added.ID] = added
	store.lock.Unlock()
	reply(response, http.StatusCreated, added)
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
