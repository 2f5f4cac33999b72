import { rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import type { CommandContext, ServiceProgram } from '../../model/program.ts';
import { respawning } from '../../model/rpc-service.ts';
import { joinCoordination } from '../../oslo/coordination.ts';
import { Database } from '../../oslo/database.ts';
import { Messaging, type RpcHandler } from '../../oslo/messaging.ts';
import { PythonError, SystemExit } from '../../oslo/python-error.ts';
import { makeDirectories, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { openStore, tackerDatabase, topic } from './tacker-store.ts';

/**
 * `tacker-conductor` (tacker.conductor.conductor_server): its plug-ins read the database as they are made; then it joins the
 * others, opens the store, unpacks what is kept there already, and listens.
 */
export const tackerConductor: ServiceProgram = {
  takes: startTimes.tackerServer,
  files: ['tacker'],
  run: async (context) => {
    const { process } = context;
    const messaging = new Messaging(context);
    const database = new Database(context, tackerDatabase);
    await database.transaction('SELECT', (schema) => tableOf(schema, 'vnf').size);
    const start = async () => {
      await joinCoordination(context);
      openStore(context);
      const unpack = unpacking(context);
      const kept = await database.transaction('SELECT', (schema) =>
        rowsOf(schema, 'vnf_packages', { onboarding_state: 'ONBOARDED' }),
      );
      for (const row of kept) unpack(String(row['id']), String(row['location_glance_store']));
      await messaging.serve(topic, onboarding(database, unpack));
    };
    const run = async () => {
      await Promise.race([start(), terminated(process)]);
      await terminated(process);
      return true;
    };
    // As the server: it ends with its service, and with 0 whatever that has met (run of 13.0.0).
    await respawning(context, run, { once: true });
    return 0;
  },
};

/** Unpacks a package where the option says, whose value is put in front of its name as it is. @throws SystemExit, PythonError */
function unpacking({ process, config, log }: CommandContext): (id: string, location: string) => void {
  const directory = config.text('vnf_package', 'vnf_package_csar_path');
  if (!process.files.exists(directory.replace(/(?<=.)\/+$/, ''))) {
    log.error(
      'tacker.conductor.conductor_server',
      `Config option 'vnf_package_csar_path' is not configured correctly. VNF package CSAR path directory ${directory} doesn't exist`,
    );
    // It says 1, and its launcher 0.
    throw new SystemExit(0);
  }
  return (id, location) => {
    const path = location.replace('file://', '');
    if (!process.files.exists(path))
      throw new PythonError('tacker.common.exceptions.TackerException', `Failed to find csar data at ${location}`);
    const content = process.files.read(path);
    if (!content.startsWith('PK')) {
      const words = `Invalid zip file : ${directory}${id}.zip`;
      log.error('tacker.common.csar_utils', `Error encountered while extracting csar zip file. Error: ${words}.`);
      throw new PythonError('tacker.common.exceptions.InvalidZipFile', words);
    }
    makeDirectories(process, `${directory}${id}`);
    process.files.write(`${directory}${id}.zip`, content);
  };
}

/** What one conductor is told all of them do, by a fan-out in truth. A package that cannot be unpacked may be sent again. */
function onboarding(database: Database, unpack: (id: string, location: string) => void): RpcHandler {
  return async (method, parameters) => {
    if (method !== 'upload_vnf_package_content')
      throw new PythonError('NotImplementedError', `no model knows ${method}`);
    const { id, location } = parameters as { id: string; location: string };
    let state = { onboarding_state: 'ONBOARDED', operational_state: 'ENABLED' };
    try {
      unpack(id, location);
    } catch (error) {
      if (!(error instanceof PythonError)) throw error;
      state = { onboarding_state: 'CREATED', operational_state: 'DISABLED' };
    }
    await database.transaction('UPDATE', (schema) =>
      Object.assign(tableOf(schema, 'vnf_packages').get(id) ?? {}, state),
    );
  };
}
