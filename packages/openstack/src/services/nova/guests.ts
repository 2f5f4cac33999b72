import type { OwnedOptions } from '../../engine/configuration/user-config.ts';
import type { Component } from '../../engine/vocabulary/component.ts';
import type { Guests } from './kind.ts';

const mebibytesOf: Readonly<Record<string, number>> = { Mi: 1, Gi: 2 ** 10, Ti: 2 ** 20 };

/** MiB of a quantity in binary units, such as `48Gi`: the schema lets no others in. */
function mebibytes(quantity: string): number {
  return Number.parseInt(quantity, 10) * (mebibytesOf[quantity.slice(-2)] ?? 0);
}

/**
 * What libvirtd's pod requests: what it needs itself, and what guests may use. They run outside of pods: without it the
 * scheduler would give their memory to pods a second time.
 */
export function libvirtRequests({ memory = '0Mi', cpus = 0, disk }: Guests = {}): NonNullable<Component['resources']> {
  return {
    cpu: `${50 + cpus * 1000}m`,
    memory: `${256 + mebibytes(memory)}Mi`,
    ...(disk === undefined ? {} : { 'ephemeral-storage': disk }),
  };
}

/** What guests may use, in Nova's words and units: what `reserved_host_` options end in -> number. */
function numbersOf({ memory, cpus, disk }: Guests = {}): [string, number][] {
  return [
    ...(memory === undefined ? [] : [['MEMORY_MB', mebibytes(memory)] as [string, number]]),
    ...(cpus === undefined ? [] : [['CPUS', cpus] as [string, number]]),
    ...(disk === undefined ? [] : [['DISK_MB', mebibytes(disk)] as [string, number]]),
  ];
}

/** Variables for the start of nova-compute, which takes them from what its host has. */
export function guestVariables(guests: Guests | undefined): Record<string, string> {
  return Object.fromEntries(numbersOf(guests).map(([name, number]) => [`GUESTS_${name}`, String(number)]));
}

/** Options of nova.conf that follow from what guests may use. */
export function ownedByGuests(guests: Guests | undefined): OwnedOptions {
  const options = numbersOf(guests).map(([name]) => [`reserved_host_${name.toLowerCase()}`, 'guests of the group']);
  return { DEFAULT: Object.fromEntries(options) as Record<string, string> };
}
