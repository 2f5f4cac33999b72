import { createHash } from 'node:crypto';
import { Fault } from '../../model/fault.ts';
import type { Config } from '../../oslo/config.ts';
import type { Log } from '../../oslo/log.ts';

const bcryptLimit = 72;
/** Algorithm -> what its hashes begin with (keystone.common.password_hashers). */
const prefixes = {
  bcrypt: '$2b$12$',
  bcrypt_sha256: '$bcrypt-sha256$v=2,t=2b,r=12$',
  scrypt: '$scrypt$ln=16,r=8,p=1$',
  pbkdf2_sha512: '$pbkdf2-sha512$60000$',
} as const;
type Algorithm = keyof typeof prefixes;
const algorithms = Object.keys(prefixes) as Algorithm[];

/** Passwords and secrets of application credentials as Keystone 27 keeps and checks them (keystone.common.password_hashing). */
export class Passwords {
  readonly #algorithm: Algorithm;
  readonly #longest: number;
  readonly #strict: boolean;
  readonly #log: Log;

  /** @throws PythonError for an algorithm that Keystone does not know */
  constructor(config: Config, log: Log) {
    this.#algorithm = config.text('identity', 'password_hash_algorithm') as Algorithm;
    this.#longest = config.integer('identity', 'max_password_length');
    this.#strict = config.boolean('DEFAULT', 'strict_password_check');
    this.#log = log;
  }

  /** What stands in the table instead of the password. @throws Fault 403 when it is too long */
  hash(password: string): string {
    return hashed(this.#algorithm, this.#taken(password));
  }

  /** Whether it is the password, whatever algorithm hashed it. @throws Fault 403 when it is too long */
  matches(password: string, hash: unknown): boolean {
    const taken = this.#taken(password);
    const algorithm = algorithms.find((one) => String(hash).startsWith(prefixes[one]));
    return algorithm !== undefined && hashed(algorithm, taken) === hash;
  }

  /** The bytes that count. */
  #taken(password: string): Buffer {
    const bytes = Buffer.from(password);
    const cut = this.#algorithm === 'bcrypt' && this.#longest > bcryptLimit;
    const logger = 'keystone.common.password_hashing';
    if (cut)
      this.#log.warning(logger, `Truncating password to algorithm specific maximum length ${bcryptLimit} characters.`);
    const longest = cut ? bcryptLimit : this.#longest;
    if (bytes.length <= longest) return bytes;
    if (this.#strict) {
      throw new Fault(
        403,
        `The password length must be less than or equal to ${longest}. The server could not comply with the request because the password is invalid.`,
      );
    }
    this.#log.warning(logger, `Truncating user password to ${longest} characters.`);
    return bytes.subarray(0, longest);
  }
}

/** Plain bcrypt itself looks at no more than 72 bytes. */
function hashed(algorithm: Algorithm, bytes: Buffer): string {
  const used = algorithm === 'bcrypt' ? bytes.subarray(0, bcryptLimit) : bytes;
  return `${prefixes[algorithm]}${createHash('sha256').update(used).digest('base64url')}`;
}
