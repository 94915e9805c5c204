package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	request, err := http.NewRequest("GET", os.Args[1], nil)
	if err == nil {
		request.Header.Set("X-Key", os.Getenv("API_KEY"))
		var reply *http.Response
		if reply, err = http.DefaultClient.Do(request); err == nil {
			text, _ := io.ReadAll(reply.Body)
			fmt.Println(string(text))
			return
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
