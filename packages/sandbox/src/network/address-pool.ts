/** Hands out the IPv4 addresses of a network one after another, and takes them back. */
export class AddressPool {
  readonly #base: number;
  readonly #size: number;
  readonly #taken = new Set<number>();
  #next: number;

  /**
   * @param cidr such as `10.244.0.0/24`; the network's own address, the first one and the broadcast are never given
   * @param next the offset that is tried first
   */
  constructor(cidr: string, next = 2) {
    const [address = '', prefix = '32'] = cidr.split('/');
    this.#base = ipToNumber(address);
    this.#size = 2 ** (32 - Number(prefix));
    this.#next = next;
  }

  /** The offset that is tried next. */
  get next(): number {
    return this.#next;
  }

  /** A free address; freed ones are used again as late as possible. @throws Error when none is left */
  take(): string {
    for (let tried = 0; tried < this.#size; tried++) {
      const offset = this.#next;
      this.#next = this.#next + 1 >= this.#size - 1 ? 2 : this.#next + 1;
      if (this.#taken.has(offset)) continue;
      this.#taken.add(offset);
      return numberToIp(this.#base + offset);
    }
    throw new Error(`no address is left in the network ${numberToIp(this.#base)} of ${this.#size} addresses`);
  }

  /** Takes a given address; false when it is taken or not of this network. */
  claim(address: string): boolean {
    const offset = ipToNumber(address) - this.#base;
    if (!(offset > 0 && offset < this.#size) || this.#taken.has(offset)) return false;
    this.#taken.add(offset);
    return true;
  }

  free(address: string): void {
    this.#taken.delete(ipToNumber(address) - this.#base);
  }
}

function ipToNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}

function numberToIp(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
