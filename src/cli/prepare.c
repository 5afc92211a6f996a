/* Pictures and sound made fit for a model, by programs of TorchScript. */
#include <string.h>

#include "cli/media.h"

/* Runs the function `prepare` of the text; releases the arguments. */
static wick_status run(const char *text, wick_value **arguments, size_t count, wick_value **out, wick_error **error) {
  wick_module *module = NULL;
  wick_run_options options = {.size = sizeof options, .executor = WICK_EXECUTOR_SIMPLE};
  wick_status status = wick_compile(NULL, text, strlen(text), "wick", &module, error);
  if (!status)
    status = wick_run(module, "prepare", (const wick_value *const *)arguments, count, NULL, 0, &options, out, error);
  for (size_t i = 0; i < count; i++) wick_value_release(arguments[i]);
  wick_module_release(module);
  return status ? media_own_error(error, status) : WICK_OK;
}

/* Sizes are rounded as torchvision's Resize and CenterCrop round them; resizing is bilinear and antialiased. */
static const char image_program[] =
    "def prepare(x: Tensor, size: int, crop: int, imagenet: bool) -> Tensor:\n"
    "    x = x.unsqueeze(0).to(torch.float) / 255\n"
    "    if x.size(1) == 1:\n"
    "        x = x.expand(1, 3, x.size(2), x.size(3))\n"
    "    height, width = x.size(2), x.size(3)\n"
    "    if size > 0:\n"
    "        if height <= width:\n"
    "            sizes = [size, int(size * width / height)]\n"
    "        else:\n"
    "            sizes = [int(size * height / width), size]\n"
    "        x = torch._upsample_bilinear2d_aa(x, sizes, False, None)\n"
    "        height, width = sizes\n"
    "    if crop > 0:\n"
    "        if crop > height or crop > width:\n"
    "            raise ValueError('a picture of ' + str(width) + ' by ' + str(height) + ' is too small for the crop')\n"
    "        top, left = int(round((height - crop) / 2.0)), int(round((width - crop) / 2.0))\n"
    "        x = x[:, :, top:top + crop, left:left + crop]\n"
    "    if imagenet:\n"
    "        mean = torch.tensor([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1)\n"
    "        deviation = torch.tensor([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1)\n"
    "        x = (x - mean) / deviation\n"
    "    return x.contiguous()\n";
wick_status image_prepare(const wick_value *picture, const ImageOptions *options, wick_value **out,
                          wick_error **error) {
  wick_value *arguments[] = {wick_value_retain((wick_value *)picture), wick_value_int(options->size),
                             wick_value_int(options->crop), wick_value_bool(options->imagenet)};
  return run(image_program, arguments, sizeof arguments / sizeof *arguments, out, error);
}

/* Band-limited interpolation (J. O. Smith, "Digital Audio Resampling"): the sum of the samples around each new time,
 * weighted by a sinc of the lower of both rates' bands under a Hann window of 6 zero crossings. `up` new samples
 * stand for `down` old ones; each of the `up` phases is a filter of its own, all run as one convolution. */
static const char sound_program[] =
    "def prepare(x: Tensor, rate: int, new_rate: int) -> Tensor:\n"
    "    x = x.mean(0, keepdim=True)\n"
    "    if rate == new_rate or x.size(1) == 0:\n"
    "        return x\n"
    "    a, b = rate, new_rate\n"
    "    while b > 0:\n"
    "        a, b = b, a % b\n"
    "    down, up = rate // a, new_rate // a\n"
    "    band = min(down, up) * 0.99\n"
    "    reach = int(math.ceil(6 * down / band))\n"
    "    places = torch.arange(-reach, reach + down, dtype=torch.float64).unsqueeze(0) / down\n"
    "    times = torch.arange(0, up, dtype=torch.float64).unsqueeze(1) / up\n"
    "    t = ((places - times) * band).clamp(-6, 6)\n"
    "    window = torch.cos(t * math.pi / 12) ** 2\n"
    "    filters = (torch.sinc(t) * window * (band / down)).to(torch.float).unsqueeze(1)\n"
    "    padded = torch.constant_pad_nd(x.unsqueeze(0), [reach, reach + down], 0)\n"
    "    y = torch.conv1d(padded, filters, stride=[down])\n"
    "    frames = (x.size(1) * up + down - 1) // down\n"
    "    return y.transpose(1, 2).reshape(1, -1)[:, :frames].contiguous()\n";
wick_status sound_prepare(const wick_value *sound, int64_t rate, int64_t new_rate, wick_value **out,
                          wick_error **error) {
  wick_value *arguments[] = {wick_value_retain((wick_value *)sound), wick_value_int(rate), wick_value_int(new_rate)};
  return run(sound_program, arguments, sizeof arguments / sizeof *arguments, out, error);
}
