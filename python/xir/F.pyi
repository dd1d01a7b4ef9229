"""The functions of xir.F: one for each class of operations. Written by python3 -m xir.stubs."""

from typing import Any, Literal, Sequence

from . import Network, Op, Operand, Type, Value

def ACos(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse cosine"""

def ACosh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse hyperbolic cosine"""

def ASin(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse sine"""

def ASinh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse hyperbolic sine"""

def ATan(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse tangent"""

def ATanh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """inverse hyperbolic tangent"""

def Abs(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """absolute value"""

def Add(lhs: Operand, rhs: Operand, *, alpha: Sequence[float] = ..., beta: Sequence[float] = ...,
        cut_scale: Type | str = ..., name: str | None = ..., net: Network | None = ...) -> Value:
    """alpha * lhs + beta * rhs, broadcast"""

def AlignAxis(input: Operand, *, aligned_units: Sequence[Type] = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """pads dims with zeros to multiples of a unit"""

def And(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs and rhs, broadcast"""

def Argmax(input: Operand, *, dim: int | None = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the index of the greatest element"""

def Argmin(input: Operand, *, dim: int | None = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the index of the least element"""

def Attention(query: Operand, key: Operand, value: Operand, mask: Operand | None = ..., *, scale: float | None = ...,
        is_causal: bool = False, q_num_heads: int = 0, kv_num_heads: int = 0, softcap: float = 0.0,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """scaled dot-product attention"""

def AvgPool1d(input: Operand, *, pool_width: int = ..., stride_width: int = 1, pad_left: int = 0, pad_right: int = 0,
        count_include_pad: bool = False, divisor_override: int = 0, stride: int = ..., pad: int = ..., k: int = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the mean of each 1-D window"""

def AvgPool2d(input: Operand, *, pool_width: int = ..., pool_height: int = ..., stride_width: int = 1,
        stride_height: int = 1, pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0,
        count_include_pad: bool = False, divisor_override: int = 0, stride: int = ..., pad: int = ..., k: int = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the mean of each 2-D window"""

def AvgPool3d(input: Operand, *, pool_depth: int = ..., pool_width: int = ..., pool_height: int = ...,
        stride_depth: int = 1, stride_width: int = 1, stride_height: int = 1, pad_front: int = 0, pad_back: int = 0,
        pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0, count_include_pad: bool = False,
        divisor_override: int = 0, stride: int = ..., pad: int = ..., k: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the mean of each 3-D window"""

def BatchNorm1d(input: Operand, *, variance: Value, mean: Value, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """scales and shifts each channel of a sequence"""

def BatchNorm2d(input: Operand, *, variance: Value, mean: Value, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """scales and shifts each channel of an image"""

def BatchNorm3d(input: Operand, *, variance: Value, mean: Value, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """scales and shifts each channel of a volume"""

def BitCast(input: Operand, *, target_dtype: Type | str, name: str | None = ..., net: Network | None = ...) -> Value:
    """the stored bits as elements of another type of the same width"""

def Call(*inputs: Operand | None, body: Sequence[Op] = ..., takes: Sequence[str] = ..., gives: Sequence[str] = ...,
        places: Sequence[int] = ..., name: str | None = ..., net: Network | None = ...) -> Any:
    """runs a body of ops of its own"""

def Cast(input: Operand, *, target_dtype: Type | str, name: str | None = ..., net: Network | None = ...) -> Value:
    """changes element type, layout and distribution to target_dtype"""

def Ceil(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the least integer not below x"""

def ChannelShuffle(input: Operand, *, groups: int, name: str | None = ..., net: Network | None = ...) -> Value:
    """interleaves the channels of groups"""

def ClampScalar(input: Operand, *, min: float = ..., max: float = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """limits every element to [min, max]"""

def Concat(*inputs: Operand | None, axis: int = -1, name: str | None = ..., net: Network | None = ...) -> Value:
    """tensors one after the other along a dim"""

def ConstantOfShape(input: Operand, *, value: float = ..., element_dtype: Type | str = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """a tensor of one number everywhere"""

def Conv1d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_width: int = 1, pad_left: int = 0,
        pad_right: int = 0, dilation_width: int = 1, groups: int = 1,
        padding_mode: Literal['ZEROS', 'REFLECT', 'REPLICATE', 'CIRCULAR'] = 'ZEROS', cut_scale: Type | str = ...,
        stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """1-D convolution, with optional bias"""

def Conv2d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_width: int = 1,
        stride_height: int = 1, pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0,
        dilation_width: int = 1, dilation_height: int = 1, groups: int = 1,
        padding_mode: Literal['ZEROS', 'REFLECT', 'REPLICATE', 'CIRCULAR'] = 'ZEROS', cut_scale: Type | str = ...,
        stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """2-D convolution, with optional bias"""

def Conv3d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_depth: int = 1,
        stride_width: int = 1, stride_height: int = 1, pad_front: int = 0, pad_back: int = 0, pad_top: int = 0,
        pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0, dilation_depth: int = 1, dilation_width: int = 1,
        dilation_height: int = 1, groups: int = 1,
        padding_mode: Literal['ZEROS', 'REFLECT', 'REPLICATE', 'CIRCULAR'] = 'ZEROS', cut_scale: Type | str = ...,
        stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """3-D convolution, with optional bias"""

def ConvTranspose1d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_width: int = 1,
        pad_left: int = 0, pad_right: int = 0, dilation_width: int = 1, output_pad_width: int = 0, groups: int = 1,
        stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """1-D transposed convolution, with optional bias"""

def ConvTranspose2d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_width: int = 1,
        stride_height: int = 1, pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0,
        dilation_width: int = 1, dilation_height: int = 1, output_pad_width: int = 0, output_pad_height: int = 0,
        groups: int = 1, stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """2-D transposed convolution, with optional bias"""

def ConvTranspose3d(input: Operand, weights: Operand, bias: Operand | None = ..., *, stride_depth: int = 1,
        stride_width: int = 1, stride_height: int = 1, pad_front: int = 0, pad_back: int = 0, pad_top: int = 0,
        pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0, dilation_depth: int = 1, dilation_width: int = 1,
        dilation_height: int = 1, output_pad_depth: int = 0, output_pad_width: int = 0, output_pad_height: int = 0,
        groups: int = 1, stride: int = ..., dilation: int = ..., pad: int = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """3-D transposed convolution, with optional bias"""

def Copy(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """a copy of the input"""

def Cos(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """cosine"""

def Cosh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """hyperbolic cosine"""

def CumSum(input: Operand, *, axis: int = -1, exclusive: bool = False, reverse: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """cumulative sums along a dim"""

def Div(lhs: Operand, rhs: Operand, *, rounding_mode: Literal['NONE', 'TRUNC', 'FLOOR'] = 'NONE',
        name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs / rhs, broadcast"""

def DivideScalar(input: Operand, *, divisor: float, rounding_mode: Literal['NONE', 'TRUNC', 'FLOOR'] = 'NONE',
        name: str | None = ..., net: Network | None = ...) -> Value:
    """input / divisor"""

def ELU(input: Operand, *, alpha: float = 1.0, name: str | None = ..., net: Network | None = ...) -> Value:
    """exponential linear unit"""

def Einsum(*inputs: Operand | None, equation: str, name: str | None = ..., net: Network | None = ...) -> Value:
    """sums of products by an equation of index letters"""

def Equal(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs == rhs, broadcast"""

def Erf(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """error function"""

def Exp(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """exponential function"""

def Expand(input: Operand, dims: Operand | None = ..., *, sizes: Sequence[int], name: str | None = ...,
        net: Network | None = ...) -> Value:
    """repeats dims of 1 up to a size"""

def Floor(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the greatest integer not above x"""

def GELU(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """Gaussian error linear unit"""

def GRU(X: Operand, W: Operand, R: Operand, B: Operand | None = ..., sequence_lens: Operand | None = ...,
        initial_h: Operand | None = ..., *, hidden_size: int,
        direction: Literal['FORWARD', 'REVERSE', 'BIDIRECTIONAL'] = 'FORWARD', layout: int = 0, clip: float = ...,
        activations: Sequence[str] = ..., activation_alpha: Sequence[float] = ...,
        activation_beta: Sequence[float] = ..., linear_before_reset: bool = False, name: str | None = ...,
        net: Network | None = ...) -> tuple[Value, ...]:
    """gated recurrent unit"""

def Gather(data: Operand, indices: Operand, *, axis: int = 0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """slices along an axis, picked by indices"""

def GatherElements(data: Operand, indices: Operand, *, axis: int = 0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """one element for each index, picked along an axis"""

def GatherND(data: Operand, indices: Operand, *, batch_dims: int = 0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """elements or slices, picked by positions in several dims"""

def Greater(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs > rhs, broadcast"""

def GreaterEqual(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs >= rhs, broadcast"""

def GridSample(input: Operand, grid: Operand, *, interpolation: Literal['LINEAR', 'NEAREST', 'CUBIC'] = 'LINEAR',
        padding_mode: Literal['ZEROS', 'BORDER', 'REFLECTION'] = 'ZEROS', align_corners: bool = False,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the image at positions given by a grid"""

def GroupNorm(input: Operand, *, groups: int, eps: float = 1e-05, gamma: Value | None = ..., beta: Value | None = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """normalises groups of channels of each sample"""

def HardOp(*inputs: Operand | None, instr: Sequence[Value] = ..., params: Sequence[Value] = ...,
        origin_ops_id: Sequence[int] = ..., device_info: dict[str, Any] = ..., layer_count: int = 0,
        sub_hard_ops: Sequence[Op] = ..., name: str | None = ..., net: Network | None = ...) -> Any:
    """instructions for an accelerator"""

def Hardshrink(input: Operand, *, lambda_: float = 0.5, name: str | None = ..., net: Network | None = ...) -> Value:
    """small numbers become 0"""

def Hardsigmoid(input: Operand, *, alpha: float = 0.16666666666666666, beta: float = 0.5, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """a straight line limited to [0, 1]"""

def Hardswish(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """x times its hard sigmoid"""

def Hardtanh(input: Operand, *, min_val: float = -1.0, max_val: float = 1.0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """limits every element to [min_val, max_val]"""

def InnerProduct(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """product of each input with a constant matrix"""

def Input(*, name: str | None = ..., net: Network | None = ...) -> Any:
    """the network's arguments: an output for each"""

def InstanceNorm1d(input: Operand, *, eps: float = 1e-05, gamma: Value | None = ..., beta: Value | None = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """normalises each channel of each sequence"""

def InstanceNorm2d(input: Operand, *, eps: float = 1e-05, gamma: Value | None = ..., beta: Value | None = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """normalises each channel of each image"""

def InstanceNorm3d(input: Operand, *, eps: float = 1e-05, gamma: Value | None = ..., beta: Value | None = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """normalises each channel of each volume"""

def LSTM(X: Operand, W: Operand, R: Operand, B: Operand | None = ..., sequence_lens: Operand | None = ...,
        initial_h: Operand | None = ..., initial_c: Operand | None = ..., P: Operand | None = ..., *, hidden_size: int,
        direction: Literal['FORWARD', 'REVERSE', 'BIDIRECTIONAL'] = 'FORWARD', layout: int = 0, clip: float = ...,
        activations: Sequence[str] = ..., activation_alpha: Sequence[float] = ...,
        activation_beta: Sequence[float] = ..., input_forget: bool = False, name: str | None = ...,
        net: Network | None = ...) -> tuple[Value, ...]:
    """long short-term memory"""

def LayerNorm(input: Operand, *, axis: Sequence[int], eps: float = 1e-05, gamma: Value | None = ...,
        beta: Value | None = ..., name: str | None = ..., net: Network | None = ...) -> Value:
    """normalises over some dims together"""

def Less(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs < rhs, broadcast"""

def LessEqual(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs <= rhs, broadcast"""

def Log(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """natural logarithm"""

def LogSigmoid(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """logarithm of the sigmoid"""

def LogSoftmax(input: Operand, *, axis: int = -1, name: str | None = ..., net: Network | None = ...) -> Value:
    """the logarithm of Softmax"""

def Matmul(x: Operand, k: Operand, b: Operand | None = ..., *, cut_scale: Type | str = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """matrix product with broadcast leading dims and optional bias"""

def Max(input: Operand, *, dim: int | None = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the greatest element along a dim"""

def MaxPool1d(input: Operand, *, pool_width: int = ..., stride_width: int = 1, pad_left: int = 0, pad_right: int = 0,
        dilation_width: int = 1, stride: int = ..., dilation: int = ..., pad: int = ..., k: int = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the greatest element of each 1-D window"""

def MaxPool2d(input: Operand, *, pool_width: int = ..., pool_height: int = ..., stride_width: int = 1,
        stride_height: int = 1, pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0,
        dilation_width: int = 1, dilation_height: int = 1, stride: int = ..., dilation: int = ..., pad: int = ...,
        k: int = ..., name: str | None = ..., net: Network | None = ...) -> Value:
    """the greatest element of each 2-D window"""

def MaxPool3d(input: Operand, *, pool_depth: int = ..., pool_width: int = ..., pool_height: int = ...,
        stride_depth: int = 1, stride_width: int = 1, stride_height: int = 1, pad_front: int = 0, pad_back: int = 0,
        pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0, dilation_depth: int = 1,
        dilation_width: int = 1, dilation_height: int = 1, stride: int = ..., dilation: int = ..., pad: int = ...,
        k: int = ..., name: str | None = ..., net: Network | None = ...) -> Value:
    """the greatest element of each 3-D window"""

def Maximum(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the greater of two, broadcast"""

def Mean(input: Operand, *, dim: Sequence[int] = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the mean along dims"""

def Min(input: Operand, *, dim: int | None = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the least element along a dim"""

def Minimum(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the lesser of two, broadcast"""

def Mish(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """x times tanh of its softplus"""

def Mod(lhs: Operand, rhs: Operand, *, fmod: bool = False, name: str | None = ..., net: Network | None = ...) -> Value:
    """the remainder of lhs / rhs, broadcast"""

def MultiYolo(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """boxes of several yolo layers"""

def Multiply(lhs: Operand, rhs: Operand, *, cut_scale: Type | str = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """lhs * rhs, broadcast"""

def Neg(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """negative"""

def NonMaxSuppression(boxes: Operand, scores: Operand, max_output_boxes_per_class: Operand | None = ...,
        iou_threshold: Operand | None = ..., score_threshold: Operand | None = ..., *, center_point_box: bool = False,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """boxes that do not overlap a better one, for each batch and class"""

def NonZero(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the positions of the elements that are not zero"""

def Normalize(input: Operand, *, axis: Sequence[int], p: float = 2.0, eps: float = 1e-12, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """divides by the p-norm over some dims"""

def Not(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """true where the input is 0 or false"""

def NotEqual(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs != rhs, broadcast"""

def Or(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """lhs or rhs, broadcast"""

def Output(*values: Operand | None, name: str | None = ..., net: Network | None = ...) -> Op:
    """the network's results: an input for each"""

def PReLU(input: Operand, *, alpha: Value, name: str | None = ..., net: Network | None = ...) -> Value:
    """a slope for negative numbers, one for all or one for each channel"""

def Pad(input: Operand, amounts: Operand | None = ..., *, padding: Sequence[int],
        mode: Literal['CONSTANT', 'REFLECTION', 'REPLICATION', 'SYMMETRIC'] = 'CONSTANT', value: float = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """elements before and after each dim"""

def PixelShuffle(input: Operand, *, upscale_factor: int = 1, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """channels become rows and columns"""

def Pow(input: Operand, exponent: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """power, broadcast"""

def Prod(input: Operand, *, dim: Sequence[int] = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the product along dims"""

def PruneAxis(input: Operand, *, index: Sequence[int], name: str | None = ..., net: Network | None = ...) -> Value:
    """removes invalid elements: the reverse of AlignAxis"""

def Quantize(input: Operand, *, target_dtype: Type | str, rounding: Literal['HALF_AWAY', 'HALF_EVEN'] = 'HALF_AWAY',
        full_range: bool = False, name: str | None = ..., net: Network | None = ...) -> Value:
    """stores numbers in a quantised type, by a rule for rounding and range"""

def RMSNorm(input: Operand, *, axis: Sequence[int], eps: float = 1e-05, gamma: Value | None = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """divides by the root of the mean square over some dims"""

def RNN(X: Operand, W: Operand, R: Operand, B: Operand | None = ..., sequence_lens: Operand | None = ...,
        initial_h: Operand | None = ..., *, hidden_size: int,
        direction: Literal['FORWARD', 'REVERSE', 'BIDIRECTIONAL'] = 'FORWARD', layout: int = 0, clip: float = ...,
        activations: Sequence[str] = ..., activation_alpha: Sequence[float] = ...,
        activation_beta: Sequence[float] = ..., name: str | None = ..., net: Network | None = ...) -> tuple[Value, ...]:
    """a plain recurrent network"""

def Range(start: Operand, limit: Operand, delta: Operand, *, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """numbers at equal distances"""

def ReLU(input: Operand, *, alpha: float = 0.0, max_value: float = ..., threshold: float = 0.0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """rectified linear unit"""

def Reciprocal(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """1 / x"""

def Region(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """Darknet's region layer: boxes of YOLO version 2"""

def Reorg(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """Darknet's reorg layer: moves blocks of pixels to channels"""

def Reshape(input: Operand, dims: Operand | None = ..., *, shape: Sequence[int], layout: str, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the same elements in row-major order, in other dims"""

def Resize(input: Operand, size: Operand | None = ..., *, dsize: Sequence[int],
        interpolation: Literal['INTER_NEAREST', 'INTER_LINEAR'] = 'INTER_LINEAR', name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the image in another size"""

def Roll(input: Operand, *, shifts: Sequence[int], dims: Sequence[int] | None = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """rotates the elements of a dim"""

def Round(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the nearest integer, ties to even"""

def Route(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """Darknet's route layer: maps joined along their channels"""

def SSDOutput(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """boxes of a single-shot detector"""

def ScatterND(data: Operand, indices: Operand, updates: Operand, *,
        reduction: Literal['NONE', 'ADD', 'MUL', 'MAX', 'MIN'] = 'NONE', name: str | None = ...,
        net: Network | None = ...) -> Value:
    """a copy of a tensor with elements or slices written to indexed positions"""

def Shape(input: Operand, *, start: int = 0, end: int | None = ..., name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the dims of a tensor as a tensor"""

def SiLU(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """x times its sigmoid"""

def Sigmoid(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """logistic function"""

def Sign(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """the sign of x: -1, 0 or 1"""

def Sin(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """sine"""

def Sinh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """hyperbolic sine"""

def Slice(input: Operand, bounds: Operand | None = ..., *, begin: Sequence[int], end: Sequence[int],
        stride: Sequence[int], name: str | None = ..., net: Network | None = ...) -> Value:
    """elements at regular steps of each dim"""

def Softmax(input: Operand, *, axis: int = -1, name: str | None = ..., net: Network | None = ...) -> Value:
    """positive numbers that sum to 1 along a dim"""

def Softplus(input: Operand, *, beta: float = 1.0, threshold: float = 20.0, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """a smooth ReLU"""

def Softshrink(input: Operand, *, lambda_: float = 0.5, name: str | None = ..., net: Network | None = ...) -> Value:
    """moves numbers towards 0 by lambda"""

def Softsign(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """x / (1 + |x|)"""

def Split(input: Operand, *, sections: Sequence[int], axis: int = -1, name: str | None = ...,
        net: Network | None = ...) -> Any:
    """splits a dim into sections"""

def Sqrt(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """square root"""

def Squeeze(input: Operand, *, axis: Sequence[int], name: str | None = ..., net: Network | None = ...) -> Value:
    """removes dims of 1"""

def Stack(*inputs: Operand | None, dim: int = 0, name: str | None = ..., net: Network | None = ...) -> Value:
    """tensors of one shape along a new dim"""

def Sum(input: Operand, *, dim: Sequence[int] = ..., keepdim: bool = False, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the sum along dims"""

def SwapOrder(input: Operand, *, order: Sequence[int], axis: int = -1, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the elements of a dim in another order"""

def Tan(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """tangent"""

def Tanh(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """hyperbolic tangent"""

def Tanhshrink(input: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """x minus its hyperbolic tangent"""

def Tile(input: Operand, counts: Operand | None = ..., *, dims: Sequence[int], name: str | None = ...,
        net: Network | None = ...) -> Value:
    """the whole input, repeated along its dims"""

def TopK(x: Operand, k: Operand, *, axis: int = -1, largest: bool = True, sorted: bool = True, name: str | None = ...,
        net: Network | None = ...) -> tuple[Value, ...]:
    """the k greatest or least elements along an axis, and where they are"""

def Transpose(input: Operand, *, dims: Sequence[int], layout: str, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """axes in another order"""

def Unfold(input: Operand, *, kernel_width: int = 1, kernel_height: int = 1, stride_width: int = 1,
        stride_height: int = 1, pad_top: int = 0, pad_bottom: int = 0, pad_left: int = 0, pad_right: int = 0,
        dilation_width: int = 1, dilation_height: int = 1, stride: int = ..., dilation: int = ..., pad: int = ...,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the windows of an image as columns (im2col)"""

def Unknown(*inputs: Operand | None, msg_info: str = '', json_info: str = '', name: str | None = ...,
        net: Network | None = ...) -> Any:
    """an operation that the reader does not know"""

def Unstack(input: Operand, *, dim: int = 0, name: str | None = ..., net: Network | None = ...) -> Any:
    """splits a dim into its elements and removes it"""

def Unsupport(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """an operation that cannot be translated"""

def Upsample(input: Operand, *, height: int, width: int,
        interpolation: Literal['NEAREST', 'BILINEAR', 'BICUBIC'] = 'NEAREST', align_corners: bool = False,
        name: str | None = ..., net: Network | None = ...) -> Value:
    """the image in another height and width"""

def Where(lhs: Operand, rhs: Operand, condition: Operand, *, name: str | None = ...,
        net: Network | None = ...) -> Value:
    """condition ? lhs : rhs, broadcast"""

def Xor(lhs: Operand, rhs: Operand, *, name: str | None = ..., net: Network | None = ...) -> Value:
    """either lhs or rhs, broadcast"""

def Yolo(*inputs: Operand | None, name: str | None = ..., net: Network | None = ...) -> Any:
    """Darknet's yolo layer: boxes of YOLO version 3"""

Avgpool = AvgPool2d
Batchnorm = BatchNorm2d
Clamp = Hardtanh
Conv1dTranspose = ConvTranspose1d
Conv2dTranspose = ConvTranspose2d
Conv3dTranspose = ConvTranspose3d
Elu = ELU
Gelu = GELU
Layernorm = LayerNorm
Maxpool = MaxPool2d
Prelu = PReLU
Relu = ReLU
Silu = SiLU
Swish = SiLU
Unbind = Unstack
