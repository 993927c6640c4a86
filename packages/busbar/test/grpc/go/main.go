// The interoperability cases of grpc-go: `client <address> <case>...` calls a server, with TLS if
// GRPC_CA names a file, and `server` prints the port that it listens on.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/interop"
	testing "google.golang.org/grpc/interop/grpc_testing"
)

type connection struct {
	client *grpc.ClientConn
	test   testing.TestServiceClient
}

// Each ends the program if the server answers otherwise than it has to.
var cases = map[string]func(context.Context, connection){
	"empty_unary": func(ctx context.Context, to connection) { interop.DoEmptyUnaryCall(ctx, to.test) },
	"large_unary": func(ctx context.Context, to connection) { interop.DoLargeUnaryCall(ctx, to.test) },
	"compressed_unary": func(ctx context.Context, to connection) {
		interop.DoLargeUnaryCall(ctx, to.test, grpc.UseCompressor(gzip.Name))
	},
	"client_streaming": func(ctx context.Context, to connection) { interop.DoClientStreaming(ctx, to.test) },
	"server_streaming": func(ctx context.Context, to connection) { interop.DoServerStreaming(ctx, to.test) },
	"ping_pong":        func(ctx context.Context, to connection) { interop.DoPingPong(ctx, to.test) },
	"empty_stream":     func(ctx context.Context, to connection) { interop.DoEmptyStream(ctx, to.test) },
	"timeout_on_sleeping_server": func(ctx context.Context, to connection) {
		interop.DoTimeoutOnSleepingServer(ctx, to.test)
	},
	"cancel_after_begin": func(ctx context.Context, to connection) { interop.DoCancelAfterBegin(ctx, to.test) },
	"cancel_after_first_response": func(ctx context.Context, to connection) {
		interop.DoCancelAfterFirstResponse(ctx, to.test)
	},
	"unimplemented_method": func(ctx context.Context, to connection) { interop.DoUnimplementedMethod(ctx, to.client) },
	"unimplemented_service": func(ctx context.Context, to connection) {
		interop.DoUnimplementedService(ctx, testing.NewUnimplementedServiceClient(to.client))
	},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		serve()
		return
	}
	call(os.Args[2], os.Args[3:])
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	testing.RegisterTestServiceServer(server, interop.NewTestServer())
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	log.Fatal(server.Serve(listener))
}

func call(address string, names []string) {
	security := insecure.NewCredentials()
	if ca := os.Getenv("GRPC_CA"); ca != "" {
		var err error
		if security, err = credentials.NewClientTLSFromFile(ca, "localhost"); err != nil {
			log.Fatal(err)
		}
	}
	client, err := grpc.NewClient(address, grpc.WithTransportCredentials(security))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	to := connection{client, testing.NewTestServiceClient(client)}
	for _, name := range names {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		cases[name](ctx, to)
		cancel()
		fmt.Println(name)
	}
}
