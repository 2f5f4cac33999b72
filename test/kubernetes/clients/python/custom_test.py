import json

from case import Case
from kubernetes import client, dynamic, watch

GROUP, VERSION = "openstack.k8s.io", "v1alpha1"


class Custom(Case):
    def setUp(self):
        super().setUp()
        self.custom = client.CustomObjectsApi()
        self.where = (GROUP, VERSION, self.namespace, "memcacheds")

    def memcached(self, name, **spec):
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Memcached", "metadata": {"name": name}, "spec": spec}
        return self.custom.create_namespaced_custom_object(*self.where, body)

    def test_custom_objects(self):
        self.memcached("cache", memoryMegabytes=200)
        patched = self.custom.patch_namespaced_custom_object(*self.where, "cache", {"spec": {"memoryMegabytes": 300}})
        self.assertEqual(patched["spec"]["memoryMegabytes"], 300)
        listed = self.custom.list_namespaced_custom_object(*self.where)
        self.assertEqual([item["metadata"]["name"] for item in listed["items"]], ["cache"])
        self.custom.patch_namespaced_custom_object_status(*self.where, "cache", {"status": {"phase": "Ready"}})
        self.assertEqual(self.custom.get_namespaced_custom_object(*self.where, "cache")["status"], {"phase": "Ready"})
        self.custom.delete_namespaced_custom_object(*self.where, "cache")
        self.refused(404, self.custom.get_namespaced_custom_object, *self.where, "cache")

    def test_wrong_fields_are_named(self):
        body = json.loads(self.refused(422, self.memcached, "cache", replicas=-1).body)
        self.assertEqual([cause["field"] for cause in body["details"]["causes"]], ["spec.replicas"])

    def test_watch(self):
        stream = watch.Watch()
        self.memcached("cache")
        for event in stream.stream(self.custom.list_namespaced_custom_object, *self.where, timeout_seconds=20):
            self.assertEqual((event["type"], event["object"]["metadata"]["name"]), ("ADDED", "cache"))
            stream.stop()

    def test_dynamic_client_applies_on_the_server_side(self):
        kinds = dynamic.DynamicClient(client.ApiClient()).resources
        memcacheds = kinds.get(api_version=f"{GROUP}/{VERSION}", kind="Memcached")
        body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "Memcached", "metadata": {"name": "cache"}}
        for manager, size in (("one", 200), ("one", 300)):
            applied = memcacheds.server_side_apply(
                body={**body, "spec": {"memoryMegabytes": size}},
                name="cache",
                namespace=self.namespace,
                field_manager=manager,
            )
            self.assertEqual(applied.spec.memoryMegabytes, size)
        refusal = self.refused(
            409,
            memcacheds.server_side_apply,
            body={**body, "spec": {"memoryMegabytes": 400}},
            name="cache",
            namespace=self.namespace,
            field_manager="two",
        )
        self.assertIn('conflict with "one": .spec.memoryMegabytes', json.loads(refusal.body)["message"])
        self.assertEqual(memcacheds.get(name="cache", namespace=self.namespace).spec.memoryMegabytes, 300)

    def test_dynamic_client_finds_built_in_kinds_too(self):
        kinds = dynamic.DynamicClient(client.ApiClient()).resources
        deployments = kinds.get(api_version="apps/v1", kind="Deployment")
        self.assertTrue(deployments.namespaced)
        self.assertEqual(deployments.get(namespace=self.namespace).items, [])
