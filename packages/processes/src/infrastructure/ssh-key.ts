import type { FileSystem } from '@openstack-operator/sandbox';

const magic = 'openssh-key-v1\0';

/**
 * The public key of a private key file (`ssh-ed25519 <base64>`), which stands in it unencrypted (openssh-portable, PROTOCOL.key);
 * undefined for a file that is none or cannot be read.
 */
export function publicKeyIn(files: FileSystem, path: string): string | undefined {
  if (!files.exists(path)) return undefined;
  const [, base64] =
    /^-----BEGIN OPENSSH PRIVATE KEY-----\n([\s\S]+)-----END OPENSSH PRIVATE KEY-----\n$/.exec(files.read(path)) ?? [];
  const content = Buffer.from(base64 ?? '', 'base64');
  if (content.subarray(0, magic.length).toString('latin1') !== magic) return undefined;
  let at = magic.length;
  const field = (): Buffer => {
    const length = content.readUInt32BE(at);
    at += 4 + length;
    return content.subarray(at - length, at);
  };
  // Cipher, key derivation and its options; the number of keys.
  for (let skipped = 0; skipped < 3; skipped++) field();
  at += 4;
  const blob = field();
  const type = blob.subarray(4, 4 + blob.readUInt32BE(0)).toString('latin1');
  return `${type} ${blob.toString('base64')}`;
}
