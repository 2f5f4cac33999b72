import { expect, test } from 'vitest';
import { realClock, sleep } from '../base/clock.ts';
import { noLog } from '../base/log.ts';
import { seededRandom } from '../base/random.ts';
import { createClient } from '../client/client.ts';
import { createEventRecorder } from '../controller/events.ts';
import { serve } from '../testing/http2-server.ts';
import { LeaderElection } from './leader-election.ts';

test('with 1,000 event writes that get no answer the lease is taken and renewed, on the same connection', async () => {
  let events = 0;
  let renewals = 0;
  let version = 1;
  const { transport, sessions } = await serve(
    (stream, headers) => {
      if (String(headers[':path']).includes('/events')) {
        events++;
        return;
      }
      let body = '';
      stream.setEncoding('utf8');
      stream.on('data', (text: string) => {
        body += text;
      });
      stream.on('end', () => {
        if (headers[':method'] === 'GET') {
          stream.respond({ ':status': 404, 'content-type': 'application/json' });
          stream.end(JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404, metadata: {} }));
          return;
        }
        renewals++;
        const lease = JSON.parse(body) as { metadata: object };
        stream.respond({ ':status': 200, 'content-type': 'application/json' });
        stream.end(JSON.stringify({ ...lease, metadata: { ...lease.metadata, resourceVersion: String(version++) } }));
      });
    },
    { settings: { maxConcurrentStreams: 20 } },
  );
  const client = createClient({ transport, clock: realClock });
  const surroundings = { client, clock: realClock, random: seededRandom(1), log: noLog };
  const recorder = createEventRecorder({ ...surroundings, controller: 'test.example/operator', instance: 'a' });
  for (let i = 0; i < 1000; i++) {
    const metadata = { name: `thing-${i}`, namespace: 'ns', uid: `uid-${i}`, resourceVersion: '1' };
    const object = { apiVersion: 'test.example/v1', kind: 'Thing', metadata };
    recorder.record(object, { type: 'Normal', reason: 'Tried', action: 'Try', note: 'tried' });
  }
  const times = { leaseDuration: 4000, renewDeadline: 3000, retryPeriod: 300 };
  const election = new LeaderElection({ namespace: 'ns', name: 'lease', identity: 'one', ...times }, surroundings);
  await election.acquire();
  await sleep(realClock, 4000);
  expect(election.leading).toBe(true);
  expect(renewals).toBeGreaterThan(3);
  expect([events, sessions.length]).toEqual([8, 1]);
  await election.release();
});
