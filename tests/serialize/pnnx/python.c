/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: XIR contributors */

/* Operators as statements of a module of PyTorch: those of each form, with parameters and operands of all kinds. The
 * test cli_pytorch computes such modules. */
#include "support/python_net.h"

/* ---- functions --------------------------------------------------------------------------------------------------- */

static const struct { const char *line, *text, *forward; } functions[] = {
#define F(line, forward) { line, NET(line), forward }
    F("F.relu f 1 1 a y inplace=True $input=a",
      "v_y = F.relu(v_a)"),
    F("F.leaky_relu f 1 1 a y negative_slope=0.1",
      "v_y = F.leaky_relu(v_a, negative_slope=0.1)"),
    F("F.gelu f 1 1 a y approximate=tanh",
      "v_y = F.gelu(v_a, approximate='tanh')"),
    F("F.softmax f 1 1 a y dim=-1 dtype=None",
      "v_y = F.softmax(v_a, dim=-1)"),
    F("F.conv2d f 3 1 a b c y dilation=(1,1) groups=1 padding=same stride=(2,2) $input=a $weight=b $bias=c",
      "v_y = F.conv2d(v_a, v_b, v_c, stride=(2, 2), padding='same', dilation=(1, 1), groups=1)"),
    F("F.conv_transpose1d f 2 1 a b y bias=None output_padding=(1) stride=(2) $weight=b $input=a",
      "v_y = F.conv_transpose1d(v_a, v_b, stride=(2,), output_padding=(1,))"),
    F("F.linear f 3 1 c b a y $bias=c $weight=b $input=a",
      "v_y = F.linear(v_a, v_b, v_c)"),
    F("F.layer_norm f 3 1 a b c y eps=1.000000e-5 normalized_shape=(4) $input=a $weight=b $bias=c",
      "v_y = F.layer_norm(v_a, (4,), v_b, v_c, eps=1.000000e-5)"),
    F("F.layer_norm f 2 1 a b y normalized_shape=(4,5) weight=None $input=a $bias=b",
      "v_y = F.layer_norm(v_a, (4, 5), bias=v_b)"),
    F("F.batch_norm f 3 1 a b c y bias=None eps=0.001 weight=None $input=a $running_mean=b $running_var=c",
      "v_y = F.batch_norm(v_a, v_b, v_c, eps=0.001)"),
    F("F.instance_norm f 5 1 a b c b c y eps=0.001 $input=a $running_mean=b $running_var=c $weight=b $bias=c",
      "v_y = F.instance_norm(v_a, weight=v_b, bias=v_c, eps=0.001)"),
    F("F.max_pool2d f 1 1 a y ceil_mode=False dilation=(1,1) kernel_size=(2,2) padding=(0,0) return_indices=False stride=None",
      "v_y = F.max_pool2d(v_a, kernel_size=(2, 2), padding=(0, 0), dilation=(1, 1), ceil_mode=False)"),
    F("F.max_pool2d f 1 2 a y z kernel_size=(2,2)",
      "v_y, v_z = F.max_pool2d(v_a, return_indices=True, kernel_size=(2, 2))"),
    F("F.adaptive_avg_pool2d f 1 1 a y output_size=(0,3)",
      "v_y = F.adaptive_avg_pool2d(v_a, output_size=(None, 3))"),
    F("F.adaptive_max_pool1d f 1 2 a y z output_size=(7) return_indices=True",
      "v_y, v_z = F.adaptive_max_pool1d(v_a, return_indices=True, output_size=(7,))"),
    F("F.interpolate f 1 1 a y align_corners=False mode=nearest recompute_scale_factor=True size=(4,5)",
      "v_y = F.interpolate(v_a, (4, 5), mode='nearest')"),
    F("F.interpolate f 2 1 a b y align_corners=True mode=bilinear $input=a $size=b",
      "v_y = F.interpolate(v_a, v_b, mode='bilinear', align_corners=True)"),
    F("F.upsample f 1 1 a y align_corners=None mode=bilinear scale_factor=(2.0,2.0)",
      "v_y = F.upsample(v_a, scale_factor=(2.0, 2.0), mode='bilinear')"),
    F("F.dropout f 1 1 a y p=0.5 training=True",
      "v_y = F.dropout(v_a, p=0.5, training=self.training)"),
    F("F.pad f 1 1 a y mode=constant pad=(1,2) value=-inf",
      "v_y = F.pad(v_a, (1, 2), mode='constant', value=float('-inf'))"),
    F("F.embedding f 2 1 a b y scale_grad_by_freq=False sparse=False $input=a $weight=b",
      "v_y = F.embedding(v_a, v_b)"),
    F("F.scaled_dot_product_attention f 4 1 a b c a y dropout_p=0.5 enable_gqa=True is_causal=False $query=a $key=b $value=c $attn_mask=a",
      "v_y = F.scaled_dot_product_attention(v_a, v_b, v_c, v_a, is_causal=False, enable_gqa=True)"),
    F("torch.matmul f 2 1 a b y $input=a $other=b",
      "v_y = torch.matmul(v_a, v_b)"),
    F("torch.eq f 1 1 a y other=3",
      "v_y = torch.eq(v_a, 3)"),
    F("torch.where f 2 1 a b y other=-inf $condition=a $input=b",
      "v_y = torch.where(v_a, v_b, float('-inf'))"),
    F("torch.where f 2 1 a b y input=1 $condition=a $other=b",
      "v_y = torch.where(v_a, 1, v_b)"),
    F("torch.clamp f 1 1 a y max=1 min=None",
      "v_y = torch.clamp(v_a, max=1)"),
    F("torch.clamp f 2 1 a b y min=0 $input=a $max=b",
      "v_y = torch.clamp(v_a, 0, v_b)"),
    F("torch.cat f 3 1 a b c y dim=1",
      "v_y = torch.cat([v_a, v_b, v_c], dim=1)"),
    F("torch.stack f 2 1 a b y dim=-1",
      "v_y = torch.stack([v_a, v_b], dim=-1)"),
    F("torch.einsum f 2 1 a b y equation=ij,jk->ik",
      "v_y = torch.einsum('ij,jk->ik', v_a, v_b)"),
    F("torch.einsum f 1 1 a y equation=inf",
      "v_y = torch.einsum('inf', v_a)"),
    F("torch.meshgrid f 2 2 a b y z indexing=ij",
      "v_y, v_z = torch.meshgrid([v_a, v_b], indexing='ij')"),
    F("torch.chunk f 1 2 a y z chunks=2 dim=1",
      "v_y, v_z = torch.chunk(v_a, chunks=2, dim=1)"),
    F("torch.unbind f 1 1 a y dim=0",
      "v_y, = torch.unbind(v_a, dim=0)"),
    F("torch.split f 1 2 a y z dim=1 split_size_or_sections=(1,2) $tensor=a",
      "v_y, v_z = torch.split(v_a, split_size_or_sections=(1, 2), dim=1)"),
    F("torch.tensor_split f 1 2 a y z dim=0 indices=(2)",
      "v_y, v_z = torch.tensor_split(v_a, indices=(2,), dim=0)"),
    F("torch.topk f 1 2 a y z dim=-1 k=4 largest=True sorted=False",
      "v_y, v_z = torch.topk(v_a, k=4, dim=-1, largest=True, sorted=False)"),
    F("torch.topk f 1 1 a y k=4",
      "v_y, _ = torch.topk(v_a, k=4)"),
    F("torch.max f 1 1 a y",
      "v_y = torch.max(v_a)"),
    F("torch.max f 1 2 a y z dim=1 keepdim=False",
      "v_y, v_z = torch.max(v_a, dim=1, keepdim=False)"),
    F("torch.max f 1 1 a y dim=1",
      "v_y, _ = torch.max(v_a, dim=1)"),
    F("torch.max f 2 1 a b y $input=a $other=b",
      "v_y = torch.max(v_a, v_b)"),
    F("torch.mean f 1 1 a y dim=(2,3) keepdim=True dtype=torch.float",
      "v_y = torch.mean(v_a, dim=(2, 3), keepdim=True, dtype=torch.float)"),
    F("torch.sum f 1 1 a y dim=None keepdim=False",
      "v_y = torch.sum(v_a)"),
    F("torch.prod f 1 1 a y dim=(1) keepdim=True",
      "v_y = v_a.prod(dim=1, keepdim=True)"),
    F("torch.prod f 1 1 a y dim=(0,2) keepdim=False dtype=torch.int",
      "v_y = v_a.prod(dim=2, keepdim=False, dtype=torch.int).prod(dim=0, keepdim=False, dtype=torch.int)"),
    F("torch.prod f 1 1 a y dim=() keepdim=False",
      "v_y = v_a.prod()"),
    F("torch.any f 1 1 a y",
      "v_y = v_a.any()"),
    F("torch.std f 1 1 a y dim=(1) keepdim=False unbiased=False",
      "v_y = torch.std(v_a, dim=(1,), keepdim=False, unbiased=False)"),
    F("torch.norm f 1 1 a y dim=None keepdim=False p=fro",
      "v_y = torch.norm(v_a, p='fro', keepdim=False)"),
    F("torch.roll f 1 1 a y dims=None shifts=(3)",
      "v_y = torch.roll(v_a, shifts=(3,))"),
    F("torch.arange f 0 1 y dtype=None end=33",
      "v_y = torch.arange(end=33)"),
    F("torch.arange f 3 1 a b c y dtype=torch.float $start=a $end=b $step=c",
      "v_y = torch.arange(v_a, v_b, v_c, dtype=torch.float)"),
    F("torch.full f 0 1 y dtype=None fill_value=0.5 size=(2,3)",
      "v_y = torch.full((2, 3), 0.5)"),
    F("torch.squeeze f 1 1 a y",
      "v_y = v_a.squeeze()"),
    F("torch.squeeze f 1 1 a y dim=1",
      "v_y = v_a.squeeze(dim=1)"),
    F("torch.squeeze f 1 1 a y dim=(1,-1,3,0,-2)",
      "v_y = v_a.squeeze(dim=-2).squeeze(dim=-1).squeeze(dim=3).squeeze(dim=1).squeeze(dim=0)"),
    F("torch.unsqueeze f 1 1 a y dim=(1)",
      "v_y = torch.unsqueeze(v_a, dim=1)"),
    F("torch.narrow f 1 1 a y dim=1 length=2 start=0",
      "v_y = torch.narrow(v_a, 1, 0, 2)"),
    F("torch.repeat_interleave f 2 1 a b y dim=1 $input=a $repeats=b",
      "v_y = torch.repeat_interleave(v_a, v_b, dim=1)"),
    F("torch.scatter f 2 1 a b y dim=1 value=2.0 $input=a $index=b",
      "v_y = torch.scatter(v_a, 1, v_b, value=2.0)"),
    F("torch.gather f 2 1 a b y dim=1 sparse_grad=False $index=b $input=a",
      "v_y = torch.gather(v_a, 1, v_b)"),
    F("torch.stft f 2 1 a b y center=True hop_length=None n_fft=64 pad_mode=reflect return_complex=True $input=a $window=b",
      "v_y = torch.stft(v_a, 64, window=v_b, center=True, pad_mode='reflect', return_complex=True)"),
    F("torch.fft.ihfft2 f 1 1 a y dim=(-2,-1) norm=ortho s=None",
      "v_y = torch.fft.ihfft2(v_a, dim=(-2, -1), norm='ortho')"),
    F("Tensor.permute f 1 1 a y dims=(0,2,3,1) $input=a",
      "v_y = v_a.permute((0, 2, 3, 1))"),
    F("Tensor.reshape f 1 1 a y shape=(0,-1,4)",
      "v_y = v_a.reshape((v_a.size(0), -1, 4))"),
    F("Tensor.view f 2 1 a b y $input=a $shape=b",
      "v_y = v_a.reshape(v_b)"),
    F("Tensor.expand f 1 1 a y sizes=(-1,5)",
      "v_y = v_a.expand((-1, 5))"),
    F("Tensor.to f 1 1 a y copy=False dtype=torch.int memory_format=torch.preserve_format device=cpu",
      "v_y = v_a.to(dtype=torch.int, copy=False, memory_format=torch.preserve_format)"),
    F("Tensor.fill f 1 1 a y value=7",
      "v_y = torch.fill(v_a, 7)"),
    F("Tensor.masked_fill f 2 1 a b y value=-inf $input=a $mask=b",
      "v_y = v_a.masked_fill(v_b, float('-inf'))"),
    F("Tensor.clone f 1 1 a y memory_format=torch.channels_last",
      "v_y = v_a.clone(memory_format=torch.channels_last)"),
    F("Tensor.slice f 1 1 a y dim=2 end=2147483647 start=1 step=1",
      "v_y = v_a[:, :, 1:]"),
    F("Tensor.slice f 1 1 a y dims=(1,2) ends=(5,2147483647) starts=(0,-3) steps=(2,1)",
      "v_y = v_a[:, :5:2, -3:]"),
    F("Tensor.slice f 1 1 a y dims=(0,-1,-3) ends=(0,3,2147483647) selects=(-1,2147483647,2147483647) starts=(0,1,0) steps=(0,1,4)",
      "v_y = v_a[-1, ..., ::4, :, 1:3]"),
    F("Tensor.slice f 2 1 a b y dim=0 step=1 start=0 $input=a $end=b",
      "v_y = v_a[:v_b]"),
    F("Tensor.slice_copy f 2 1 a b y dims=(2,0) ends=(10,1) selects=(2147483647,2147483647) starts=(2,0) steps=(2,1) $self=a $src=b",
      "v_y = v_a.clone()\nv_y[:1, :, 2:10:2] = v_b"),
    F("torch.slice_scatter f 2 1 a b y dim=1 end=6 start=2 step=2 $input=a $src=b",
      "v_y = v_a.clone()\nv_y[:, 2:6:2] = v_b"),
    F("Tensor.select f 1 1 a y dim=1 index=-1",
      "v_y = v_a.select(1, -1)"),
    F("Tensor.index f 1 1 a y expr=[None,[1,-2],[[True,False],[False,True]]]",
      "v_y = v_a[:, torch.tensor([1, -2]), torch.tensor([[True, False], [False, True]])]"),
    F("Tensor.index f 2 1 a b y $input=a $indices=b",
      "v_y = v_a[v_b]"),
    F("Tensor.index_put f 2 1 a b y accumulate=True values=45.0 $input=a $indices=b",
      "v_y = v_a.index_put((v_b,), torch.tensor(45.0, dtype=v_a.dtype), accumulate=True)"),
    F("Tensor.index_put f 3 1 a b c y accumulate=False $input=a $indices=b $values=c",
      "v_y = v_a.index_put((v_b,), v_c, accumulate=False)"),
    F("prim::TupleConstruct f 1 1 a y",
      "v_y = (v_a,)"),
    F("prim::ListConstruct f 2 1 a b y",
      "v_y = [v_a, v_b]"),
    F("torch.t f 1 1 a y $self=a",
      "v_y = torch.t(v_a)"),
    /* two operators: numbers and lists of numbers are tensors where tensors are expected */
    F("pnnx.Expression e 1 1 a n expr=size(@0,1)\ntorch.unsqueeze f 1 1 n y dim=0",
      "v_n = v_a.size(1)\nv_y = torch.unsqueeze(as_tensor(v_n), dim=0)"),
    F("pnnx.Expression e 1 1 a n expr=2\ntorch.where f 3 1 a n b y $condition=a $input=n $other=b",
      "v_n = 2\nv_y = torch.where(v_a, v_n, v_b)"),
    F("pnnx.Expression e 1 1 a n expr=[size(@0,1),2]\nTensor.reshape f 2 1 b n y $input=b $shape=n",
      "v_n = [v_a.size(1), 2]\nv_y = v_b.reshape(v_n)"),
    F("pnnx.Expression e 1 1 b n expr=[@0]\nTensor.index_put f 2 1 a n y values=2 $input=a $indices=n",
      "v_n = [v_b]\nv_y = v_a.index_put(tuple(v_n), torch.tensor(2, dtype=v_a.dtype))"),
    F("pnnx.Expression e 2 1 b c n expr=[@0,@1]\nTensor.index f 2 1 a n y $input=a $indices=n",
      "v_n = [v_b, v_c]\nv_y = v_a[tuple(v_n)]"),
    F("pnnx.Expression e 0 1 n expr=2\npnnx.Expression f 2 1 a n y expr=mul(sqrt(@1),add(@1,1))",
      "v_n = 2\nv_y = torch.sqrt(as_tensor(v_n)) * (v_n + 1)"),
    F("pnnx.SliceIndexes s 1 1 b n indexes=(@0,2147483647)\nTensor.slice f 2 1 a n y dims=(0,1) starts=(0,1) steps=(1,1) $input=a $ends=n",
      "v_n = [v_b, 2147483647]\nv_y = v_a[:v_n[0], 1:v_n[1]]"),
    /* tuples that are taken apart */
    F("torch.max f 1 1 a t dim=1\nprim::TupleUnpack u 1 2 t y z",
      "v_t = torch.max(v_a, dim=1)\nv_y, v_z = v_t"),
    F("F.max_pool1d f 1 1 a t kernel_size=(2) return_indices=True\nprim::TupleUnpack u 1 2 t y z",
      "v_t = F.max_pool1d(v_a, return_indices=True, kernel_size=(2,))\nv_y, v_z = v_t"),
    F("torch.chunk f 1 1 a t chunks=2\nprim::ListUnpack u 1 2 t y z",
      "v_t = torch.chunk(v_a, chunks=2)\nv_y, v_z = v_t"),
#undef F
};

static void functions_are_called(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(functions); i++) {
        buffer text = python_of(python_read(functions[i].text));
        python_check_init(text.data, "", functions[i].line);
        python_check_forward(text.data, functions[i].forward, functions[i].line);
        buffer_free(&text);
    }
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static const struct { const char *line, *text, *init, *forward; } modules[] = {
#define M(line, init, forward) { line, NET(line), init, forward }
    M("nn.Linear f 1 1 a y bias=True in_features=4 out_features=2 @bias=(2)f32 @weight=(2,4)f32",
      "self.m_f = nn.Linear(in_features=4, out_features=2, bias=True)\nfill(self.m_f, archive, 'f', (('bias', (2,), torch.float32), ('weight', (2, 4), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.Linear f 1 1 a y bias=True in_features=4 out_features=2 @weight=(2,4)bf16",
      "self.m_f = nn.Linear(in_features=4, out_features=2, bias=False)\nfill(self.m_f, archive, 'f', (('weight', (2, 4), torch.bfloat16),), torch.float32)",
      "v_y = self.m_f(v_a)"),
    M("nn.Linear f 1 1 c y bias=True in_features=4 out_features=2 @weight=(2,4)bf16",
      "self.m_f = nn.Linear(in_features=4, out_features=2, bias=False)\nfill(self.m_f, archive, 'f', (('weight', (2, 4), torch.bfloat16),))",
      "v_y = self.m_f(v_c)"),
    M("nn.Conv2d f 1 1 a y bias=True dilation=(1,1) groups=1 in_channels=3 kernel_size=(3,3) out_channels=8 padding=same padding_mode=zeros stride=(1,1) @bias=(8)f32 @weight=(8,3,3,3)f32",
      "self.m_f = nn.Conv2d(in_channels=3, out_channels=8, kernel_size=(3, 3), stride=(1, 1), padding='same', dilation=(1, 1), groups=1, bias=True, padding_mode='zeros')\nfill(self.m_f, archive, 'f', (('bias', (8,), torch.float32), ('weight', (8, 3, 3, 3), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.BatchNorm2d f 1 1 a y affine=False eps=0.1 num_features=3 @running_mean=(3)f32 @running_var=(3)f32",
      "self.m_f = nn.BatchNorm2d(num_features=3, eps=0.1, affine=False)\nfill(self.m_f, archive, 'f', (('running_mean', (3,), torch.float32), ('running_var', (3,), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.InstanceNorm1d f 1 1 a y affine=True eps=0.1 num_features=3 track_running_stats=True @bias=(3)f32 @weight=(3)f32",
      "self.m_f = nn.InstanceNorm1d(num_features=3, eps=0.1, affine=True, track_running_stats=False)\nfill(self.m_f, archive, 'f', (('bias', (3,), torch.float32), ('weight', (3,), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.MaxPool2d f 1 2 a y z ceil_mode=True kernel_size=(3,3) return_indices=True stride=(2,2)",
      "self.m_f = nn.MaxPool2d(return_indices=True, kernel_size=(3, 3), stride=(2, 2), ceil_mode=True)",
      "v_y, v_z = self.m_f(v_a)"),
    M("nn.AdaptiveAvgPool2d f 1 1 a y output_size=(0,1)",
      "self.m_f = nn.AdaptiveAvgPool2d(output_size=(None, 1))",
      "v_y = self.m_f(v_a)"),
    M("nn.Upsample f 1 1 a y align_corners=False mode=nearest scale_factor=(2.0,2.0) size=None",
      "self.m_f = nn.Upsample(scale_factor=(2.0, 2.0), mode='nearest')",
      "v_y = self.m_f(v_a)"),
    M("nn.Upsample f 2 1 a b y align_corners=False mode=bilinear $input=a $size=b",
      "",
      "v_y = F.interpolate(v_a, v_b, mode='bilinear', align_corners=False)"),
    M("nn.PReLU f 1 1 a y num_parameters=3 @weight=(3)f32",
      "self.m_f = nn.PReLU(num_parameters=3)\nfill(self.m_f, archive, 'f', (('weight', (3,), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.Embedding f 1 1 a y embedding_dim=4 num_embeddings=11 sparse=False @weight=(11,4)f32",
      "self.m_f = nn.Embedding(num_embeddings=11, embedding_dim=4)\nfill(self.m_f, archive, 'f', (('weight', (11, 4), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.RMSNorm f 1 1 a y elementwise_affine=True eps=1.000000e-5 normalized_shape=(4) @weight=(4)f32",
      "self.m_f = nn.RMSNorm(normalized_shape=(4,), eps=1.000000e-5, elementwise_affine=True)\nfill(self.m_f, archive, 'f', (('weight', (4,), torch.float32),))",
      "v_y = self.m_f(v_a)"),
    M("nn.ReLU f 1 1 a y",
      "self.m_f = nn.ReLU()",
      "v_y = self.m_f(v_a)"),
    M("nn.LSTM f 1 3 a y z w batch_first=True bias=False bidirectional=False hidden_size=2 input_size=4 num_layers=1 proj_size=0 @weight_hh_l0=(8,2)f32 @weight_ih_l0=(8,4)f32",
      "self.m_f = nn.LSTM(input_size=4, hidden_size=2, num_layers=1, bias=False, batch_first=True, bidirectional=False, proj_size=0)\nfill(self.m_f, archive, 'f', (('weight_hh_l0', (8, 2), torch.float32), ('weight_ih_l0', (8, 4), torch.float32),))",
      "v_y, (v_z, v_w) = self.m_f(v_a)"),
    M("nn.LSTM f 3 1 a b c y bias=False hidden_size=2 input_size=4 num_layers=1 @weight_hh_l0=(8,2)f32 @weight_ih_l0=(8,4)f32",
      "self.m_f = nn.LSTM(input_size=4, hidden_size=2, num_layers=1, bias=False)\nfill(self.m_f, archive, 'f', (('weight_hh_l0', (8, 2), torch.float32), ('weight_ih_l0', (8, 4), torch.float32),))",
      "v_y, _ = self.m_f(v_a, (v_b, v_c))"),
    M("nn.GRU f 2 2 a b y z bias=False bidirectional=True hidden_size=2 input_size=4 num_layers=1 dropout=0.1 @weight_hh_l0=(6,2)f32 @weight_hh_l0_reverse=(6,2)f32 @weight_ih_l0=(6,4)f32 @weight_ih_l0_reverse=(6,4)f32",
      "self.m_f = nn.GRU(input_size=4, hidden_size=2, num_layers=1, bias=False, bidirectional=True)\nfill(self.m_f, archive, 'f', (('weight_hh_l0', (6, 2), torch.float32), ('weight_hh_l0_reverse', (6, 2), torch.float32), ('weight_ih_l0', (6, 4), torch.float32), ('weight_ih_l0_reverse', (6, 4), torch.float32),))",
      "v_y, v_z = self.m_f(v_a, v_b)"),
    M("nn.RNN f 1 1 a y bias=True hidden_size=2 input_size=4 nonlinearity=relu @bias_hh_l0=(2)f32 @bias_ih_l0=(2)f32 @weight_hh_l0=(2,2)f32 @weight_ih_l0=(2,4)f32",
      "self.m_f = nn.RNN(input_size=4, hidden_size=2, bias=True, nonlinearity='relu')\nfill(self.m_f, archive, 'f', (('bias_hh_l0', (2,), torch.float32), ('bias_ih_l0', (2,), torch.float32), ('weight_hh_l0', (2, 2), torch.float32), ('weight_ih_l0', (2, 4), torch.float32),))",
      "v_y, _ = self.m_f(v_a)"),
    M("nn.MultiheadAttention f 2 1 a b y add_bias_kv=False add_zero_attn=True batch_first=True bias=True embed_dim=4 kdim=4 num_heads=2 vdim=4 @in_proj_bias=(12)f32 @in_proj_weight=(12,4)f32 @out_proj.bias=(4)f32 @out_proj.weight=(4,4)f32 $attn_mask=b",
      "self.m_f = nn.MultiheadAttention(embed_dim=4, num_heads=2, bias=True, add_bias_kv=False, add_zero_attn=True, kdim=4, vdim=4, batch_first=True)\nfill(self.m_f, archive, 'f', (('in_proj_bias', (12,), torch.float32), ('in_proj_weight', (12, 4), torch.float32), ('out_proj.bias', (4,), torch.float32), ('out_proj.weight', (4, 4), torch.float32),))",
      "v_y, _ = self.m_f(v_a, v_a, v_a, need_weights=False, attn_mask=v_b)"),
    M("nn.MultiheadAttention f 2 2 a b y z bias=False embed_dim=4 num_heads=2 @in_proj_weight=(12,4)f32 @out_proj.weight=(4,4)f32",
      "self.m_f = nn.MultiheadAttention(embed_dim=4, num_heads=2, bias=False, add_bias_kv=False)\nfill(self.m_f, archive, 'f', (('in_proj_weight', (12, 4), torch.float32), ('out_proj.weight', (4, 4), torch.float32),))",
      "v_y, v_z = self.m_f(v_a, v_b, v_b, need_weights=True)"),
    M("pnnx.Attribute f 0 1 y @data=(2,3)f32",
      "self.m_f = weight(archive, 'f.data', (2, 3), torch.float32)",
      "v_y = self.m_f"),
    M("pnnx.Attribute f 0 1 y @data=(2)c64",
      "self.m_f = weight(archive, 'f.data', (2,), torch.complex64)",
      "v_y = self.m_f"),
    M("nn.MultiheadAttention f 4 1 a b c d y embed_dim=4 kdim=3 num_heads=2 vdim=3 @bias_k=(1,1,4)f32 @bias_v=(1,1,4)f32 @k_proj_weight=(4,3)f32 @out_proj.weight=(4,4)f32 @q_proj_weight=(4,4)f32 @v_proj_weight=(4,3)f32 $attn_mask=d",
      "self.m_f = nn.MultiheadAttention(embed_dim=4, num_heads=2, bias=False, add_bias_kv=True, kdim=3, vdim=3)\nfill(self.m_f, archive, 'f', (('bias_k', (1, 1, 4), torch.float32), ('bias_v', (1, 1, 4), torch.float32), ('k_proj_weight', (4, 3), torch.float32), ('out_proj.weight', (4, 4), torch.float32), ('q_proj_weight', (4, 4), torch.float32), ('v_proj_weight', (4, 3), torch.float32),))",
      "v_y, _ = self.m_f(v_a, v_b, v_c, need_weights=False, attn_mask=v_d)"),
#undef M
};

static void modules_are_made_and_called(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(modules); i++) {
        buffer text = python_of(python_read(modules[i].text));
        python_check_init(text.data, modules[i].init, modules[i].line);
        python_check_forward(text.data, modules[i].forward, modules[i].line);
        buffer_free(&text);
    }
}

/* ---- expressions ------------------------------------------------------------------------------------------------- */

static const struct { const char *text, *formula, *forward; } formulas[] = {
#define E(formula, python) { NET("pnnx.Expression f 2 1 a b y expr=" formula), formula, "v_y = " python }
    E("@0", "v_a"),                                           E("2", "2"),
    E("2.5", "2.5"),                                          E("-1", "-1"),
    E("True", "True"),                                        E("inf", "float('inf')"),
    E("-inf", "float('-inf')"),                               E("add(@0,@1)", "v_a + v_b"),
    E("add(@0,@1,2)", "v_a + (v_b * 2)"),                     E("rsub(@0,1)", "1 - v_a"),
    E("rsub(@0,@1,3)", "v_b - (v_a * 3)"),                    E("sub(mul(@0,2.5),-1)", "(v_a * 2.5) - (-1)"),
    E("pow(-2,@0)", "(-2) ** v_a"),                           E("neg(neg(@0))", "-(-v_a)"),
    E("neg(pow(@0,2))", "-(v_a ** 2)"),                       E("pow(neg(@0),2)", "(-v_a) ** 2"),
    E("abs(@0)", "torch.abs(v_a)"),
    E("sqrt(size(@0,1))", "torch.sqrt(as_tensor(v_a.size(1)))"),
    E("floor(div(size(@0,1),2))", "math.floor(v_a.size(1) / 2)"),
    E("ceil(div(size(@0,1),2))", "math.ceil(v_a.size(1) / 2)"),
    E("trunc(1.5)", "math.trunc(1.5)"),                       E("round(1.5)", "round(1.5)"),
    E("int(div(@0,2))", "(v_a / 2).to(torch.int64)"),         E("int(neg(@0))", "(-v_a).to(torch.int64)"),
    E("int(size(@0,1))", "int(v_a.size(1))"),                 E("torch.bool(@0)", "v_a.to(torch.bool)"),
    E("torch.float(add(@0,1))", "(v_a + 1).to(torch.float32)"),
    E("torch.long(@0)", "v_a.to(torch.int64)"),               E("log1p,@0", "torch.log1p(v_a)"),
    E("floor_divide(@0,3)", "v_a // 3"),                      E("remainder(@0,3)", "v_a % 3"),
    E("fmod(@0,3)", "torch.fmod(v_a, as_tensor(3))"),
    E("fmod(5,3)", "torch.fmod(as_tensor(5), as_tensor(3))"),
    E("atan2(1,@0)", "torch.atan2(as_tensor(1), v_a)"),       E("max(@0,@1)", "torch.maximum(v_a, v_b)"),
    E("minimum(@0,2.5)", "torch.minimum(v_a, as_tensor(2.5))"),
    E("max(size(@0,0),1)", "max(v_a.size(0), 1)"),            E("logaddexp(@0,@1)", "torch.logaddexp(v_a, v_b)"),
    E("and(@0,1)", "v_a & 1"),                                E("or(@0,@1)", "v_a | v_b"),
    E("xor(@0,@1)", "v_a ^ v_b"),                             E("lshift(@0,1)", "v_a << 1"),
    E("rshift(@0,1)", "v_a >> 1"),                            E("size(@0)", "list(v_a.size())"),
    E("[size(@0,0),-1]", "[v_a.size(0), -1]"),                E("(1,@1)", "[1, v_b]"),
    E("[]", "[]"),                                            E("[1,2]", "[1, 2]"),
    E("(1.5,2.5)", "[1.5, 2.5]"),                             E("[@0,@1]", "[v_a, v_b]"),
    E("reciprocal(@0)", "torch.reciprocal(v_a)"),
    E("mul(1.2e+00+-9.0e-01j,@0)", "complex(1.2e+00, -9.0e-01) * v_a"),
    E("add(@0,4.0e+00+1.0e+00j)", "v_a + complex(4.0e+00, 1.0e+00)"),
#undef E
};

static void formulas_are_operators(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(formulas); i++) {
        buffer text = python_of(python_read(formulas[i].text));
        python_check_forward(text.data, formulas[i].forward, formulas[i].formula);
        buffer_free(&text);
    }
}

/* Python's parser accepts 200 parentheses in each other. */
static void high_formulas_are_several_statements(void **state) {
    enum { HIGH = 190 };
    char text[sizeof NET("") + 64 + 5 * HIGH] = "7767517\n1 1\npnnx.Input i 0 1 a\npnnx.Expression f 1 1 a y expr=";
    (void)state;
    for (int i = 0; i < HIGH; i++) strcat(text, "neg(");
    strcat(text, "@0");
    for (int i = 0; i < HIGH; i++) strcat(text, ")");
    strcat(text, "\npnnx.Output o 1 0 y\n");
    buffer out = python_of(python_read(text));
    size_t nested = 0, most = 0;
    for (const char *p = strstr(out.data, "    def forward"); *p; p++) {
        nested = *p == '(' ? nested + 1 : *p == ')' ? nested - 1 : nested;
        if (nested > most) most = nested;
    }
    assert_in_range(most, 10, 60);
    assert_non_null(strstr(out.data, "        t_3 = "));
    assert_null(strstr(out.data, "        t_4 = "));
    buffer_free(&out);
}

/* ---- the module -------------------------------------------------------------------------------------------------- */

static const char whole[] =
    "\"\"\"A network of PNNX as a module of PyTorch, written by XIR.\"\"\"\n"
    "import torch\n"
    "import torch.nn as nn\n"
    "import torch.nn.functional as F\n"
    "\n"
    "INPUTS = (\n"
    "    ((2, None), torch.float32),\n"
    "    ((1,), torch.bool),\n"
    ")\n"
    "\n\n"
    "class Model(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.eval()\n"
    "\n"
    "    def forward(self, v_a, v_b):\n"
    "        v_y = F.relu(v_a)\n"
    "        return (v_y, v_b)\n"
    "\n\n"
    "def test_inference():\n";

static void a_module_without_weights(void **state) {
    (void)state;
    buffer text = python_of(python_read("7767517\n1 1\npnnx.Input i 0 1 a #a=(2,?)f32\npnnx.Input j 0 1 b #b=(1)bool\n"
                                        "F.relu f 1 1 a y\npnnx.Output o 1 0 y\npnnx.Output p 1 0 b\n"));
    if (strncmp(text.data, whole, sizeof whole - 1) != 0) fail_msg("%s", text.data);
    buffer_free(&text);
}

/* PNNX's files have no scalars, but a network that is converted has them. */
static void inputs_that_are_scalars(void **state) {
    (void)state;
    xir_network *net = python_read(NET("F.relu f 1 1 a y"));
    xir_value *c = xir_op_output(xir_network_input_op(net), 2);
    DOES(xir_value_set_type(c, xir_type_tensor(ctx, xir_type_float(ctx, XIR_FLOAT_FP32), NULL, NULL, 0)));
    DOES(xir_value_set_type(xir_op_output(xir_network_input_op(net), 3), FP32("", 0)));
    buffer text = python_of(net);
    assert_non_null(strstr(text.data, "    ((3,), torch.int64),\n    ((), torch.float32),\n    ((0,), torch.float32),\n)\n"));
    buffer_free(&text);
}

/* An input of unknown type cannot be made up. */
static void only_known_inputs_are_tested(void **state) {
    (void)state;
    buffer text = python_of(python_read("7767517\n1 1\npnnx.Input i 0 1 a\npnnx.Output o 1 0 a\n"));
    assert_null(strstr(text.data, "INPUTS"));
    assert_null(strstr(text.data, "test_inference"));
    buffer_free(&text);
}

/* Results are tensors, also those that are numbers in Python. */
static void results_are_tensors(void **state) {
    (void)state;
    buffer text = python_of(python_read("7767517\n1 1\npnnx.Input i 0 1 a\npnnx.Expression e 1 1 a n expr=size(@0,0)\n"
                                        "pnnx.Expression f 1 1 a l expr=[size(@0,0),2]\n"
                                        "pnnx.Output o 1 0 n\npnnx.Output p 1 0 l\n"));
    assert_non_null(strstr(text.data, "        return (as_tensor(v_n), as_tensor(v_l))\n"));
    assert_non_null(strstr(text.data, "def as_tensor(value):\n"));
    buffer_free(&text);
}

GROUP {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_called),    cmocka_unit_test(modules_are_made_and_called),
        cmocka_unit_test(formulas_are_operators),  cmocka_unit_test(high_formulas_are_several_statements),
        cmocka_unit_test(a_module_without_weights), cmocka_unit_test(only_known_inputs_are_tested),
        cmocka_unit_test(results_are_tensors),     cmocka_unit_test(inputs_that_are_scalars),
    };
    return RUN_GROUP(tests);
}
