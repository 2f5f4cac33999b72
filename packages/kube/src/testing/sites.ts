import { createLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { virtualClock } from '../base/virtual-clock.ts';
import {
  type ControllerOptions,
  controller,
  type ReconcileContext,
  type ReconcileResult,
} from '../controller/controller.ts';
import { type RunOptions, type Runtime, run } from '../controller/run.ts';
import { on } from '../controller/watches.ts';
import { defineKind, type KubeObject } from '../objects/objects.ts';
import { FakeServer } from './fake-server.ts';

/** Tests of the runtime reconcile these. */
export interface Site extends KubeObject {
  spec: { pages?: number; databaseRef?: { name: string; namespace?: string }; secret?: string };
  status?: { pages?: number };
}
/** What a site owns. */
export interface Page extends KubeObject {
  data?: Record<string, string>;
}
export const Site = defineKind<Site>('test.example/v1', 'Site', 'sites');
export const Page = defineKind<Page>('v1', 'Page', 'pages');
export const Database = defineKind('test.example/v1', 'Database', 'databases');
export const Hidden = defineKind('v1', 'Hidden', 'hiddens');

/** A `Site`. */
export function site(name: string, spec: Site['spec'] = {}): Site {
  return { apiVersion: 'test.example/v1', kind: 'Site', metadata: { namespace: 'ns', name }, spec };
}

/** A `Page`. */
export function page(name: string, data: Record<string, string> = {}): Page {
  return { apiVersion: 'v1', kind: 'Page', metadata: { name, namespace: 'ns' }, data };
}

/** An object of a kind without content. */
export const plain = (kind: string, name: string): KubeObject => ({
  apiVersion: kind === 'Database' ? 'test.example/v1' : 'v1',
  kind,
  metadata: { namespace: 'ns', name },
});

type Reconcile = (context: ReconcileContext<Site>) => Promise<ReconcileResult | void>;

/** A controller of sites that owns pages, with its server, in virtual time; nothing runs until `start`. */
export function setUp(
  reconcile: Reconcile,
  options: Partial<ControllerOptions<Site>> = {},
  more: Partial<RunOptions> = {},
) {
  const clock = virtualClock();
  const server = new FakeServer(clock);
  const stop = new AbortController();
  const lines: { level: string; message: string; error?: unknown }[] = [];
  const passes: string[] = [];
  let runtime: Runtime | undefined;
  const site = controller(Site, {
    owns: [Page],
    watches: [on<Site>(Database, 'databaseRef')],
    ...options,
    reconcile: async (context) => {
      passes.push(context.key);
      return reconcile(context);
    },
  });
  const start = () =>
    run({
      name: 'test',
      controllers: [site],
      client: server.client,
      clock,
      random: seededRandom(1),
      log: createLog({ clock, write: (line) => lines.push(JSON.parse(line)) }),
      signal: stop.signal,
      started: (started) => {
        runtime = started;
      },
      ...more,
    });
  const settle = async () => {
    await clock.run(() => runtime?.idle === true);
    // News of the last writes still has to come in.
    await clock.advance(0);
    await clock.run(() => runtime?.idle === true);
  };
  return { clock, server, stop, lines, passes, start, settle, runtime: () => runtime as Runtime };
}
