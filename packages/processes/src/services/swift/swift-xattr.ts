import { SystemError } from '@openstack-operator/sandbox';
import { errno } from '../../oslo/python-error.ts';
import { commandWith, notModelled, pause } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';

/** `python3 -m xattr.tool -w NAME VALUE FILE`: sets an extended attribute, with the library by which Swift does. */
export const python = commandWith({ flags: 'w', values: 'm' }, async (process, line) => {
  const [name = '', value = '', path, ...more] = line.operands;
  if (line.value('m') !== 'xattr.tool' || !line.has('w') || path === undefined || more.length > 0)
    notModelled(process, 'anything but -m xattr.tool -w NAME VALUE FILE');
  if (!(await pause(process, startTimes.xattr))) return 0;
  if (!process.files.exists(path)) {
    process.stderr(`No such file: ${path}\n`);
    return 1;
  }
  try {
    process.files.setAttribute(path, name, value);
    return 0;
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    process.stderr(`${errno(error)}: b'${path}'\n`);
    return 1;
  }
});
