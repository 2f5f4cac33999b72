import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { realClock } from '@openstack-operator/kube';
import type { TestProject } from 'vitest/node';
import { clean } from '../clean.ts';
import { patchControlPlane } from '../durability/events.ts';
import { administrator } from '../running-cloud.ts';
import { Sdk } from '../sdk.ts';
import {
  gatewayCertificate,
  gatewayRef,
  nameGateways,
  ready,
  replaceNodeAgents,
  writePublicCloud,
} from './public-cloud.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the Gateway's certificate. */
    certificate: string;
    /** Domain of the public names. */
    domain: string;
  }
}

/** Moves the cloud's public endpoints to the Gateway, and back at the end; tells every client of the new ones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { pem, domain } = await gatewayCertificate();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-'));
  const certificate = join(directory, 'certificate.pem');
  writeFileSync(certificate, pem);
  await timed(`public endpoints are at *.${domain}`, async () => {
    await patchControlPlane({ gatewayRef, publicDomain: domain });
    await ready();
  });
  await timed('node agents know where consoles are', replaceNodeAgents);
  await ready();
  await nameGateways();
  const inside = process.env['OS_CLIENT_CONFIG_FILE'] ?? '';
  process.env['OS_CLIENT_CONFIG_FILE'] = writePublicCloud(directory, domain, certificate);
  await clean();
  project.provide('certificate', certificate);
  project.provide('domain', domain);
  return async () => {
    await clean();
    process.env['OS_CLIENT_CONFIG_FILE'] = inside;
    await timed('public endpoints are at the Services again', async () => {
      await patchControlPlane({ gatewayRef: null, publicDomain: null });
      await ready();
      await replaceNodeAgents();
      await ready();
      await nameGateways();
      const endpoints = new Sdk(inside).call(administrator().identity, 'identity.endpoints', [], {
        interface: 'public',
      });
      const away = ((await endpoints) as { url: string }[]).filter(
        ({ url }) => !new URL(url).hostname.endsWith('.svc'),
      );
      if (away.length > 0) throw new Error(`still in the catalogue: ${away.map(({ url }) => url).join(', ')}`);
    });
    rmSync(directory, { recursive: true });
  };
}

async function timed(what: string, action: () => Promise<void>): Promise<void> {
  const begun = realClock.now();
  await action();
  process.stdout.write(`gateway: ${what} (${((realClock.now() - begun) / 1000).toFixed(1)} s)\n`);
}
