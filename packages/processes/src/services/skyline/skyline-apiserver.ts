import { type HttpMessage, type HttpReply, type Process, SystemError } from '@openstack-operator/sandbox';
import { bodyOf, headerOf, json, locationOf } from '../../http.ts';
import { hasColumns, rowsOf, tableOf } from '../../infrastructure/mysql-protocol.ts';
import { serveHttp } from '../../model/eventlet-server.ts';
import { migrate } from '../../oslo/project-database.ts';
import { osError, PythonError } from '../../oslo/python-error.ts';
import { CommandError, commandWith, notModelled, pause, terminated } from '../../program-support.ts';
import { startTimes } from '../../start-times.ts';
import { SkylineDatabase, skylineDatabase } from './skyline-database.ts';
import { type Credential, Logins, type Payload } from './skyline-login.ts';
import { readSettings, type Settings } from './skyline-settings.ts';

/** gunicorn's exit status of an application that does not start (gunicorn.arbiter.Arbiter.WORKER_BOOT_ERROR). */
const bootError = 3;

/** `gunicorn`, with Skyline's application alone. */
export const gunicorn = commandWith({ values: 'b|bind w|workers k|worker-class' }, async (process, line) => {
  const [application] = line.operands;
  if (application !== 'skyline_apiserver.main:app' || line.value('worker-class') !== 'uvicorn.workers.UvicornWorker')
    notModelled(process, 'other applications than skyline_apiserver.main:app, with uvicorn.workers.UvicornWorker');
  const [host = '127.0.0.1', port = '8000'] = (line.value('bind') ?? '').split(':').filter((part) => part !== '');
  if (!(await pause(process, startTimes.skyline.start))) return 0;
  try {
    const settings = readSettings(process);
    openLog(process, settings);
    const database = new SkylineDatabase(process, settings);
    await database.connect();
    const logins = new Logins(process, settings);
    const serve = (message: HttpMessage) => answer({ settings, database, logins }, message);
    const listener = serveHttp(process, { host, port: Number(port) }, serve);
    await terminated(process);
    listener.close();
    return 0;
  } catch (error) {
    if (error instanceof SystemError) throw new CommandError(`[ERROR] Connection in use: ('${host}', ${port})`, 1);
    if (!(error instanceof PythonError)) throw error;
    process.stderr(`Traceback (most recent call last):\n${error.lastLine}\n`);
    throw new CommandError('Application startup failed. Exiting.\n[ERROR] Reason: Worker failed to boot.', bootError);
  }
});

/** `alembic upgrade head` with Skyline's migrations. */
export const alembic = commandWith({ values: 'c|config' }, async (process, line) => {
  const file = line.value('config') ?? 'alembic.ini';
  const text = process.files.exists(file) ? process.files.read(file) : '';
  if (!/^script_location *=/mu.test(text))
    throw new CommandError("FAILED: No 'script_location' key found in configuration.", 255);
  if (!/= *skyline_apiserver\.db:alembic$/mu.test(text) || line.operands.join(' ') !== 'upgrade head')
    notModelled(process, 'other migrations than skyline_apiserver.db:alembic, and other commands than upgrade head');
  if (!(await pause(process, startTimes.skyline.migrate))) return 143;
  try {
    await new SkylineDatabase(process, readSettings(process)).transaction('CREATE', (schema) =>
      migrate(schema, skylineDatabase),
    );
    return 0;
  } catch (error) {
    throw error instanceof PythonError ? new CommandError(error.lastLine) : error;
  }
});

/** Its log is a file, of which it is told the directory. @throws PythonError */
function openLog(process: Process, { default: { log_dir: directory, log_file: file } }: Settings): void {
  const path = `${directory}/${file}`;
  if (path === '/dev/stdout') return;
  try {
    process.files.write(path, '');
  } catch (error) {
    throw error instanceof SystemError ? osError(error, path) : error;
  }
}

interface Server {
  readonly settings: Settings;
  readonly database: SkylineDatabase;
  readonly logins: Logins;
}

/** What fails is told as 401, whatever it is (skyline_apiserver/api/v1/login.py). */
async function answer(server: Server, message: HttpMessage): Promise<HttpReply> {
  const { logins, settings } = server;
  const { path } = locationOf(message);
  const cookie = (payload: Payload) => ({
    'set-cookie': `${settings.default.session_name}=${logins.sign(payload)}; Path=/`,
  });
  try {
    switch (`${message.method} ${path}`) {
      case 'GET /api/v1/openapi.json':
        return json(200, { info: { title: 'Skyline API' } });
      case 'POST /api/v1/login': {
        const credential = bodyOf(message) as Credential | undefined;
        if (credential?.username === undefined || credential.domain === undefined)
          return json(422, { detail: [{ msg: 'field required', type: 'value_error.missing' }] });
        const payload = await logins.login(credential);
        return json(200, await logins.profile(payload), cookie(payload));
      }
      case 'GET /api/v1/profile':
        return json(200, await logins.profile(await payloadOf(server, message)));
      case 'POST /api/v1/logout': {
        const { uuid, exp: expire } = await payloadOf(server, message);
        await server.database.transaction('INSERT', (schema) =>
          tableOf(schema, 'revoked_token').set(uuid, { uuid, expire }),
        );
        return json(200, { message: 'Logout OK' });
      }
      default:
        return json(404, { detail: 'Not Found' });
    }
  } catch (error) {
    if (!(error instanceof PythonError)) throw error;
    return json(401, { detail: error.message });
  }
}

/** @throws PythonError without a cookie, with one that is nobody's, or of somebody who has logged out */
async function payloadOf({ settings, database, logins }: Server, message: HttpMessage): Promise<Payload> {
  const name = settings.default.session_name;
  const [, value] = new RegExp(`(?:^|; *)${name}=([^;]*)`, 'u').exec(headerOf(message, 'cookie') ?? '') ?? [];
  if (value === undefined) throw new PythonError('fastapi.exceptions.HTTPException', 'Token not found');
  const payload = logins.payloadOf(value);
  const revoked = await database.transaction('SELECT', (schema) =>
    rowsOf(schema, 'revoked_token').some((row) => hasColumns(row, { uuid: payload.uuid })),
  );
  if (revoked) throw new PythonError('fastapi.exceptions.HTTPException', 'Token revoked');
  return payload;
}
