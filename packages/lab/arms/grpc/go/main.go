// The gRPC services of the lab on grpc-go, with TLS if TLS_CERT and TLS_KEY are set, like
// ../grpc-js.ts. The .pb.go files are committed: an arm is built with nothing but Go, and `protoc` is
// no Go module. Where it is installed, `go generate` writes them again.
package main

//go:generate protoc -I .. --go_out=module=busbar.example/lab:. items.proto catalog.proto
//go:generate protoc -I .. --go-grpc_out=module=busbar.example/lab:. items.proto catalog.proto

import (
	"context"
	"encoding/json"
	"log"
	"net"
	"os"
	"strconv"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"busbar.example/lab/catalog"
	"busbar.example/lab/rpz"
)

type itemServer struct {
	rpz.UnimplementedItemServiceServer
	lock  sync.RWMutex
	items map[string]*rpz.Item
	// In the order of insertion.
	ids []string
}

func (server *itemServer) CreateItem(_ context.Context, item *rpz.Item) (*rpz.Item, error) {
	if item.GetId() == "" {
		return nil, status.Error(codes.InvalidArgument, "not an item")
	}
	server.lock.Lock()
	defer server.lock.Unlock()
	if _, known := server.items[item.GetId()]; !known {
		server.ids = append(server.ids, item.GetId())
	}
	server.items[item.GetId()] = item
	return item, nil
}

func (server *itemServer) GetItem(_ context.Context, request *rpz.GetItemRequest) (*rpz.Item, error) {
	server.lock.RLock()
	defer server.lock.RUnlock()
	item, ok := server.items[request.GetId()]
	if !ok {
		return nil, status.Error(codes.NotFound, "there is no such item")
	}
	return item, nil
}

func (server *itemServer) ListItems(_ context.Context, request *rpz.ListItemsRequest) (*rpz.ListItemsResponse, error) {
	server.lock.RLock()
	defer server.lock.RUnlock()
	limit := len(server.ids)
	if request.Limit != nil {
		limit = min(limit, int(request.GetLimit()))
	}
	listed := make([]*rpz.Item, limit)
	for at, id := range server.ids[:limit] {
		listed[at] = server.items[id]
	}
	return &rpz.ListItemsResponse{Items: listed}, nil
}

type catalogServer struct {
	catalog.UnimplementedCatalogServer
	products []*catalog.Product
}

func (server *catalogServer) Constant(_ context.Context, request *catalog.ListRequest) (*catalog.Products, error) {
	limit := int(request.GetLimit())
	if limit < 1 || limit > len(server.products) {
		return nil, status.Error(codes.InvalidArgument, "limit is wrong")
	}
	return &catalog.Products{Products: server.products[:limit]}, nil
}

func main() {
	server := grpc.NewServer(security()...)
	rpz.RegisterItemServiceServer(server, preloaded())
	catalog.RegisterCatalogServer(server, &catalogServer{products: products()})
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(server.Serve(listener))
}

func security() []grpc.ServerOption {
	cert := os.Getenv("TLS_CERT")
	if cert == "" {
		return nil
	}
	made, err := credentials.NewServerTLSFromFile(cert, os.Getenv("TLS_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	return []grpc.ServerOption{grpc.Creds(made)}
}

func preloaded() *itemServer {
	count, _ := strconv.Atoi(os.Getenv("PRELOAD"))
	server := &itemServer{items: map[string]*rpz.Item{}}
	for number := 1; number <= count; number++ {
		id := strconv.Itoa(number)
		server.ids = append(server.ids, id)
		server.items[id] = &rpz.Item{Id: id, Name: "Item " + id}
	}
	return server
}

func products() []*catalog.Product {
	var found []*catalog.Product
	if text := os.Getenv("PRODUCTS"); text != "" {
		if err := json.Unmarshal([]byte(text), &found); err != nil {
			log.Fatal(err)
		}
	}
	return found
}
