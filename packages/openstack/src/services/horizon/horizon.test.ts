import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { composed, objectsOf, resource, surroundings } from '../../testing/compositions.ts';
import type { Horizon } from './kind.ts';

const read = (name: string) =>
  readFileSync(new URL(`../../../../../config/samples/${name}.yaml`, import.meta.url), 'utf8');
const sample = resource(read('horizon')) as Horizon & ReturnType<typeof resource>;
const outside = {
  served: new Set(['gateway.networking.k8s.io/HTTPRoute']),
  gateways: { 'openstack/openstack-gateway': { listeners: [{ name: 'web', protocol: 'HTTPS', port: 8443 }] } },
};

/** The lines of the settings, and the URL of the status. */
function settingsOf(spec: Partial<Horizon['spec']>, known: object = {}) {
  const composition = composed({ ...sample, spec: { ...sample.spec, ...spec } }, { ...surroundings(read), ...known });
  const texts = objectsOf(composition).map(
    ({ object }) => (object['stringData'] as Record<string, string> | undefined)?.['local_settings.py'],
  );
  return { lines: texts.join('').split('\n'), url: composition.status['url'] };
}

test('behind TLS, cookies are for TLS alone, and the scheme is what the gateway says', () => {
  const { lines, url } = settingsOf({}, outside);
  expect(url).toBe('https://horizon.example.com:8443');
  expect(lines).toContain('CSRF_TRUSTED_ORIGINS = ["https://horizon.example.com:8443"]');
  expect(lines).toContain('SECURE_PROXY_SSL_HEADER = ["HTTP_X_FORWARDED_PROTO", "https"]');
  expect(lines).toContain('SESSION_COOKIE_SECURE = True');
});

test('without TLS in front of it, nobody says that there was some', () => {
  const { lines, url } = settingsOf({ exposure: 'None' }, outside);
  expect(url).toBe('http://horizon.openstack.svc:8088');
  expect(lines.join('\n')).not.toContain('SECURE');
  expect(lines).toContain('CSRF_TRUSTED_ORIGINS = ["https://horizon.example.com"]');
});

test('requests are taken for its host name and its Service alone', () => {
  const hosts = (name: string) =>
    `ALLOWED_HOSTS = ["${name}", "horizon", "horizon.openstack.svc", "localhost", "127.0.0.1"]`;
  expect(settingsOf({}).lines).toContain(hosts('horizon.example.com'));
  expect(settingsOf({ hostname: 'panel.example.com' }).lines).toContain(hosts('panel.example.com'));
});
