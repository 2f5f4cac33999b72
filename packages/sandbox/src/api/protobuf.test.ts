import { expect, test } from 'vitest';
import { decodeProtobuf } from './protobuf.ts';

const encoder = new TextEncoder();

/** A message of fields: a number is a varint, everything else a length and its bytes. */
function message(...fields: (readonly [number, number | string | Uint8Array])[]): Uint8Array {
  const bytes = fields.flatMap(([number, value]) => {
    if (typeof value === 'number') return [...varint(number << 3), ...varint(value)];
    const content = typeof value === 'string' ? encoder.encode(value) : value;
    return [...varint((number << 3) | 2), ...varint(content.length), ...content];
  });
  return Uint8Array.from(bytes);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}

function envelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const unknown = message([1, message([1, apiVersion], [2, kind])], [2, raw]);
  return Uint8Array.from([...encoder.encode('k8s\0'), ...unknown]);
}

test('what kubectl create namespace sends is the namespace', () => {
  // Recorded from kubectl v1.36.3.
  const sent = Buffer.from(
    '6b3873000a0f0a02763112094e616d657370616365121a0a120a02743112001a0022002a0032003800420012001a020a001a002200',
    'hex',
  );
  expect(decodeProtobuf(sent)).toMatchObject({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: 't1', namespace: '', creationTimestamp: null },
    spec: {},
  });
});

test('embedded structs stand in the struct around them; maps, bytes, quantities and int-or-strings are theirs', () => {
  const volume = message([1, 'data'], [2, message([2, message([2, message([1, '1Gi'])])])]);
  const probe = message([1, message([2, message([1, '/'], [2, message([1, 1], [3, 'http'])])])]);
  const limits = message([1, message([1, 'cpu'], [2, message([1, '500m'])])]);
  const container = message([1, 'app'], [8, limits], [10, probe]);
  const pod = message([2, message([1, volume], [2, container])]);
  expect(decodeProtobuf(envelope('v1', 'Pod', pod))['spec']).toEqual({
    volumes: [{ name: 'data', emptyDir: { sizeLimit: '1Gi' } }],
    containers: [
      {
        name: 'app',
        resources: { limits: { cpu: '500m' } },
        livenessProbe: { httpGet: { path: '/', port: 'http' } },
      },
    ],
  });
  const secret = message([2, message([1, 'key'], [2, Uint8Array.of(0, 255)])], [3, 'Opaque']);
  expect(decodeProtobuf(envelope('v1', 'Secret', secret))).toMatchObject({ data: { key: 'AP8=' }, type: 'Opaque' });
});

test('numbers keep their sign, times their form', () => {
  const negative = Uint8Array.from([...varint(5 << 3), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
  const metadata = message([8, message([1, 1_767_225_600])]);
  const deployment = message([1, metadata], [2, negative]);
  expect(decodeProtobuf(envelope('apps/v1', 'Deployment', deployment))).toMatchObject({
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { minReadySeconds: -1 },
  });
});

test('what is no protobuf, breaks off, or is of a kind that is not known is refused', () => {
  const pod = envelope('v1', 'Pod', message([2, message([2, message([1, 'app'])])]));
  expect(() => decodeProtobuf(encoder.encode('{}'))).toThrow('does not appear to be a protobuf message');
  expect(() => decodeProtobuf(pod.subarray(0, -2))).toThrow('unexpected EOF');
  expect(() => decodeProtobuf(envelope('v1', 'Widget', message()))).toThrow('no kind "Widget" is registered');
});
