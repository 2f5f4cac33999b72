import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Random } from '@openstack-operator/kube';
import { pem } from './certificate.ts';

const type = 'ssh-ed25519';
/** What comes before the 32 bytes of an Ed25519 key in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** A private key of SSH (Ed25519) without a passphrase, in the format of OpenSSH (openssh-portable, PROTOCOL.key). */
export function sshPrivateKey(random: Random): string {
  const seed = Buffer.from(random.bytes(32));
  const der = Buffer.concat([pkcs8, seed]);
  const spki = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  const point = spki.export({ type: 'spki', format: 'der' }).subarray(-32);
  const check = Buffer.from(random.bytes(4));
  const secret = Buffer.concat([
    check,
    check,
    field(type),
    field(point),
    field(Buffer.concat([seed, point])),
    field(''),
  ]);
  const padding = Buffer.from(Array.from({ length: (8 - (secret.length % 8)) % 8 }, (_, index) => index + 1));
  const content = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    field('none'),
    field('none'),
    field(''),
    Buffer.from([0, 0, 0, 1]),
    field(publicBlob(point)),
    field(Buffer.concat([secret, padding])),
  ]);
  return pem('OPENSSH PRIVATE KEY', content, 70);
}

/** The line of `authorized_keys` that belongs to a private key that `sshPrivateKey` made. */
export function sshPublicKey(privateKey: string, comment: string): string {
  const content = Buffer.from(privateKey.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
  const blob = publicBlob(Buffer.alloc(32));
  // Magic, "none" twice, an empty field, the number of keys.
  const at = 15 + 8 + 8 + 4 + 4 + 4;
  return `${type} ${content.subarray(at, at + blob.length).toString('base64')} ${comment}\n`;
}

function publicBlob(point: Uint8Array): Buffer {
  return Buffer.concat([field(type), field(point)]);
}

/** A text or bytes with their length before them (RFC 4251, 5). */
function field(content: Uint8Array | string): Buffer {
  const bytes = Buffer.from(content as Uint8Array);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
