import { uuid } from '@openstack-operator/kube';
import { SystemError } from '@openstack-operator/sandbox';
import { worded } from '../../attempt.ts';
import { osError, PythonError } from '../../oslo/python-error.ts';
import type { ServiceContext } from '../../oslo/service-context.ts';

const logger = 'nova.virt.node';
const pattern = /^[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$/i;

function invalid(reason: string): PythonError {
  return new PythonError('nova.exception.InvalidNodeConfiguration', `Invalid node identity configuration: ${reason}`);
}

/** `state_path`, without a slash at its end. */
function statePath({ config }: ServiceContext): string {
  return config.text('DEFAULT', 'state_path').replace(/(?<=.)\/+$/, '');
}

/** The node's identity: `compute_id` beside the configuration files, or in the state path. @throws PythonError */
export function readNodeIdentity(context: ServiceContext, configFiles: readonly string[]): string | undefined {
  const { process, log } = context;
  const directories = [...configFiles.map((file) => file.slice(0, file.lastIndexOf('/'))), statePath(context)];
  const found: { id: string; file: string }[] = [];
  for (const directory of new Set(directories)) {
    const file = `${directory}/compute_id`;
    let text: string;
    try {
      text = process.files.read(file);
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
      if (error.code === 'ENOENT') continue;
      throw osError(error, file);
    }
    if (!pattern.test(text.slice(0, 40).trim())) throw invalid(`Unable to parse UUID from ${file}`);
    found.push({ id: text.trim().toLowerCase(), file });
  }
  const [first] = found;
  if (first === undefined) return undefined;
  const other = found.find(({ id }) => id !== first.id);
  if (other !== undefined) throw invalid(`UUID ${other.id} in ${other.file} does not match ${first.id}`);
  log.info(logger, `Determined node identity ${first.id} from ${first.file}`);
  return first.id;
}

/** The node's identity, made and written when there is none. @throws PythonError when the state path is closed */
export function localNodeIdentity(context: ServiceContext, configFiles: readonly string[]): string {
  const { process, log } = context;
  const known = readNodeIdentity(context, configFiles);
  if (known !== undefined) return known;
  const id = uuid(process.random);
  log.info(logger, `Generated node identity ${id}`);
  const file = `${statePath(context)}/compute_id`;
  worded(
    () => process.files.write(file, id),
    (error) => invalid(`Unable to write uuid to ${file}: ${osError(error, file).message}`),
  );
  log.info(logger, `Wrote node identity ${id} to ${file}`);
  return id;
}
