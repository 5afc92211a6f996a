//! Loads a model and calls it with a 2 by 3 tensor, without crates:
//! rustc --edition 2021 main.rs $(pkg-config --libs-only-L wick) -o main && ./main linear.pt
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::ptr::{null, null_mut};

enum Module {}
enum Value {}
enum Error {}
type Failure = *mut *mut Error; // where a function that fails leaves its error
const FLOAT32: u32 = 6; // WICK_FLOAT32

#[rustfmt::skip]
#[link(name = "wick")]
extern "C" {
    fn wick_error_message(error: *const Error) -> *const c_char;
    fn wick_error_free(error: *mut Error);
    fn wick_module_release(module: *mut Module);
    fn wick_value_release(value: *mut Value);
    fn wick_load(_: *mut c_void, path: *const c_char, _: *const c_void, out: *mut *mut Module, _: Failure) -> i32;
    fn wick_forward(_: *mut Module, inputs: *const *mut Value, count: usize, out: *mut *mut Value, _: Failure) -> i32;
    fn wick_tensor_new(dtype: u32, ndim: i32, sizes: *const i64, out: *mut *mut Value, _: Failure) -> i32;
    fn wick_tensor_count(tensor: *const Value) -> i64;
    fn wick_tensor_copy_from(tensor: *mut Value, data: *const c_void, bytes: usize, _: Failure) -> i32;
    fn wick_tensor_copy_to(tensor: *const Value, data: *mut c_void, bytes: usize, _: Failure) -> i32;
}

/// A handle, and what releases it at the end of its scope.
struct Owned<T>(*mut T, unsafe extern "C" fn(*mut T));
impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        unsafe { (self.1)(self.0) } // NULL is allowed
    }
}

/// A status and its error as a Result.
fn checked(call: impl FnOnce(Failure) -> i32) -> Result<(), String> {
    let mut error = null_mut();
    if call(&mut error) == 0 {
        return Ok(());
    }
    let message = unsafe { CStr::from_ptr(wick_error_message(error)) }.to_string_lossy().into_owned();
    unsafe { wick_error_free(error) };
    Err(message)
}

fn main() -> Result<(), String> {
    let path = CString::new(std::env::args().nth(1).unwrap_or_else(|| "model.pt".to_string())).unwrap();
    let (numbers, sizes) = ([1f32, 2., 3., 4., 5., 6.], [2i64, 3]);
    let mut model = Owned(null_mut(), wick_module_release);
    let mut input = Owned(null_mut(), wick_value_release);
    let mut output = Owned(null_mut(), wick_value_release);
    unsafe {
        checked(|error| wick_load(null_mut(), path.as_ptr(), null(), &mut model.0, error))?;
        checked(|error| wick_tensor_new(FLOAT32, 2, sizes.as_ptr(), &mut input.0, error))?;
        checked(|error| wick_tensor_copy_from(input.0, numbers.as_ptr().cast(), 4 * numbers.len(), error))?;
        checked(|error| wick_forward(model.0, &input.0, 1, &mut output.0, error))?;
        let mut result = vec![0f32; wick_tensor_count(output.0) as usize];
        checked(|error| wick_tensor_copy_to(output.0, result.as_mut_ptr().cast(), 4 * result.len(), error))?;
        println!("{}", result.iter().map(|x| format!("{:.4}", x)).collect::<Vec<_>>().join(" "));
    }
    Ok(())
}
