import type { IronicSpec } from './kind.ts';

/** The hardware that the spec enables. */
const enabled = ({ enabledDrivers = ['ipmi', 'redfish'] }: IronicSpec): readonly string[] => enabledDrivers;

/**
 * What conductors have of each kind of interface: for all hardware, and for one type of it. A conductor does not start
 * where one of its types has none of a kind; of several a machine gets the first that its type lists (ironic/drivers).
 */
const interfaces: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  bios: { all: ['no-bios'], redfish: ['redfish'] },
  boot: { all: ['ipxe'], redfish: ['redfish-virtual-media'] },
  console: { all: ['no-console'] },
  deploy: { all: ['direct', 'ramdisk'] },
  firmware: { all: ['no-firmware'], redfish: ['redfish'] },
  management: { ipmi: ['ipmitool'], redfish: ['redfish'], 'manual-management': ['noop'] },
  power: { ipmi: ['ipmitool'], redfish: ['redfish'], 'manual-management': ['agent'] },
  raid: { all: ['no-raid', 'agent'], redfish: ['redfish'] },
  rescue: { all: ['no-rescue'] },
  vendor: { all: ['no-vendor'], ipmi: ['ipmitool'], redfish: ['redfish'] },
};

const option = (kind: string) => `enabled_${kind}_interfaces`;

/** Which hardware there is, and what can be done with it. */
export function hardwareOptions(spec: IronicSpec): Readonly<Record<string, string>> {
  const types = enabled(spec);
  const made = types.includes('fake-hardware') ? ['fake'] : [];
  const inspected = (spec.enableInspector ?? true) ? ['agent', ...(types.includes('redfish') ? ['redfish'] : [])] : [];
  const lists = Object.entries(interfaces).map(([kind, { all = [], ...own }]) => {
    return [option(kind), [...all, ...types.flatMap((type) => own[type] ?? []), ...made].join(',')] as const;
  });
  return {
    enabled_hardware_types: types.join(','),
    ...Object.fromEntries(lists),
    [option('inspect')]: [...inspected, 'no-inspect', ...made].join(','),
    [option('network')]: 'noop',
    [option('storage')]: 'noop',
  };
}

/** The fields that say so instead. */
export const ownedHardware: Readonly<Record<string, string>> = {
  enabled_hardware_types: 'spec.enabledDrivers',
  [option('inspect')]: 'spec.enableInspector',
  [option('network')]: 'spec.networkInterface',
};
