import type { Process } from '@openstack-operator/sandbox';
import { CommandError, commandWith } from '../program-support.ts';

/**
 * Volume groups of the node, by the disks in its /dev: a physical volume has a label (LABELONE), and after that what its
 * group is (lvm2, format_text). @throws CommandError without rights on devices
 */
export function volumeGroups(process: Process): readonly string[] {
  if (!process.privileged) throw forbidden;
  const disks = process.files.list('/dev').filter((name) => !process.files.isDirectory(`/dev/${name}`));
  return disks.flatMap((name) => {
    const [label, group] = process.files.read(`/dev/${name}`).split('\n');
    return label === 'LABELONE' && group !== undefined ? [group.replace(/ \{$/, '')] : [];
  });
}

const forbidden = new CommandError(
  '  /dev/mapper/control: open failed: Permission denied\n  Failure to communicate with kernel device-mapper driver.',
  5,
);

/** A command about one group. @throws CommandError where there is none of that name */
const ofGroup = (options: { flags?: string; values?: string }, say: (group: string) => string) =>
  commandWith(options, (process, line) => {
    const [group = ''] = line.operands;
    if (process.uid !== 0) throw forbidden;
    if (!volumeGroups(process).includes(group))
      throw new CommandError(`  Volume group "${group}" not found\n  Cannot process volume group ${group}`, 5);
    process.stdout(`${say(group)}\n`);
    return 0;
  });

/** `vgs` and `vgchange`. */
export const lvmCommands = {
  vgs: ofGroup({ flags: 'noheadings', values: 'o|options' }, (group) => `  ${group}`),
  vgchange: ofGroup({ values: 'a|activate' }, (group) => `  0 logical volume(s) in volume group "${group}" now active`),
};

/** Whether a logical volume is there: where its group is. */
export const hasDevice = (process: Process, device: string): boolean =>
  volumeGroups(process).some((group) => device.startsWith(deviceOf(group, '')));

/** The device of a logical volume (cinder.volume.drivers.lvm, local_path). */
export const deviceOf = (group: string, volume: string): string =>
  `/dev/mapper/${group.replaceAll('-', '--')}-${volume.replaceAll('-', '--')}`;
