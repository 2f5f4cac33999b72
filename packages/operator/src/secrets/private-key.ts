import { createECDH, createPrivateKey } from 'node:crypto';
import type { Random } from '@openstack-operator/kube';

/** A private key of the curve P-256, PKCS #8 as PEM. */
export function privateKey(random: Random): string {
  const pair = createECDH('prime256v1');
  const secret = random.bytes(32);
  try {
    pair.setPrivateKey(secret);
  } catch {
    // One in four billion is none: zero, or beyond the order of the curve.
    return privateKey(random);
  }
  const point = pair.getPublicKey();
  const encoded = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const [x, y] = [encoded(point.subarray(1, 33)), encoded(point.subarray(33))];
  const key = createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d: encoded(secret), x, y }, format: 'jwk' });
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}
