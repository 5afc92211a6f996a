// Loads a model and calls it with a 2 by 3 tensor, by cgo: go build -o main main.go && ./main linear.pt
package main

/*
#cgo pkg-config: wick
#include <stdlib.h>
#include <wick/wick.h>
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"
)

// A status and its error as Go's.
func checked(status C.wick_status, failure **C.wick_error) error {
	if status == C.WICK_OK {
		return nil
	}
	defer C.wick_error_free(*failure)
	return fmt.Errorf("%s", C.GoString(C.wick_error_message(*failure)))
}

func run(path string) error {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var failure *C.wick_error
	var model *C.wick_module
	if err := checked(C.wick_load(nil, name, nil, &model, &failure), &failure); err != nil {
		return err
	}
	defer C.wick_module_release(model)

	numbers, sizes := []float32{1, 2, 3, 4, 5, 6}, []C.int64_t{2, 3}
	var input, output *C.wick_value
	if err := checked(C.wick_tensor_new(C.WICK_FLOAT32, 2, &sizes[0], &input, &failure), &failure); err != nil {
		return err
	}
	defer C.wick_value_release(input)
	data, size := unsafe.Pointer(&numbers[0]), C.size_t(4*len(numbers))
	if err := checked(C.wick_tensor_copy_from(input, data, size, &failure), &failure); err != nil {
		return err
	}
	if err := checked(C.wick_forward(model, &input, 1, &output, &failure), &failure); err != nil {
		return err
	}
	defer C.wick_value_release(output)

	var result [4]float32 // another count of bytes is an error
	data, size = unsafe.Pointer(&result[0]), C.size_t(4*len(result))
	if err := checked(C.wick_tensor_copy_to(output, data, size, &failure), &failure); err != nil {
		return err
	}
	fmt.Printf("%.4f %.4f %.4f %.4f\n", result[0], result[1], result[2], result[3])
	return nil
}

func main() {
	path := "model.pt"
	if len(os.Args) > 1 {
		path = os.Args[1]
	}
	if err := run(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
