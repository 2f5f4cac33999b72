import json

from case import Case
from kubernetes import client


class Objects(Case):
    def test_create_read_and_list(self):
        made = self.config_map("settings", color="blue")
        self.assertTrue(made.metadata.uid)
        read = self.core.read_namespaced_config_map("settings", self.namespace)
        self.assertEqual(read.data, {"color": "blue"})
        self.assertEqual(read.metadata.creation_timestamp.tzname(), "UTC")
        listed = self.core.list_namespaced_config_map(self.namespace, label_selector="made=here")
        self.assertEqual([item.metadata.name for item in listed.items], ["settings"])
        every = self.core.list_config_map_for_all_namespaces(field_selector="metadata.name=settings")
        self.assertIn(self.namespace, [item.metadata.namespace for item in every.items])

    def test_pages(self):
        for number in range(7):
            self.config_map(f"page-{number}")
        names, token = [], None
        while token != "":
            page = self.core.list_namespaced_config_map(
                self.namespace, limit=3, _continue=token, label_selector="made=here"
            )
            self.assertLessEqual(len(page.items), 3)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue or ""
        self.assertEqual(names, [f"page-{number}" for number in range(7)])

    def test_patch_merges_strategically_by_default(self):
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "example.com/app:1"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        self.apps.create_namespaced_deployment(self.namespace, {"metadata": {"name": "web"}, "spec": spec})
        side = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "example.com/app:2"}]}}}}
        patched = self.apps.patch_namespaced_deployment("web", self.namespace, side)
        self.assertEqual(sorted(one.name for one in patched.spec.template.spec.containers), ["app", "side"])

    def test_json_patch_is_a_list(self):
        self.config_map("settings", color="blue")
        steps = [{"op": "replace", "path": "/data/color", "value": "red"}]
        self.assertEqual(self.core.patch_namespaced_config_map("settings", self.namespace, steps).data, {"color": "red"})

    def test_replace_needs_the_version_that_it_has_seen(self):
        seen = self.config_map("settings", color="blue")
        fresh = self.core.patch_namespaced_config_map("settings", self.namespace, {"data": {"size": "big"}})
        seen.data = {"color": "red"}
        refusal = self.refused(409, self.core.replace_namespaced_config_map, "settings", self.namespace, seen)
        self.assertIn("the object has been modified", json.loads(refusal.body)["message"])
        fresh.data = {"color": "red"}
        self.assertEqual(
            self.core.replace_namespaced_config_map("settings", self.namespace, fresh).data, {"color": "red"}
        )

    def test_delete_and_delete_collection(self):
        for name in ("one", "two", "three"):
            self.config_map(name)
        self.core.delete_namespaced_config_map("one", self.namespace)
        self.refused(404, self.core.read_namespaced_config_map, "one", self.namespace)
        self.core.delete_collection_namespaced_config_map(self.namespace, label_selector="made=here")
        self.assertEqual(self.core.list_namespaced_config_map(self.namespace, label_selector="made=here").items, [])

    def test_scale(self):
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "app", "image": "example.com/app:1"}]}}
        spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
        self.apps.create_namespaced_deployment(self.namespace, {"metadata": {"name": "web"}, "spec": spec})
        self.apps.patch_namespaced_deployment_scale("web", self.namespace, {"spec": {"replicas": 3}})
        self.assertEqual(self.apps.read_namespaced_deployment_scale("web", self.namespace).spec.replicas, 3)

    def test_exceptions_carry_the_status(self):
        body = json.loads(self.refused(404, self.core.read_namespaced_pod, "nope", self.namespace).body)
        self.assertEqual((body["kind"], body["reason"], body["code"]), ("Status", "NotFound", 404))
        self.assertEqual(body["details"], {"name": "nope", "kind": "pods"})
        self.config_map("settings")
        taken = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="settings"))
        refusal = self.refused(409, self.core.create_namespaced_config_map, self.namespace, taken)
        self.assertEqual(refusal.reason, "Conflict")
        self.assertEqual(json.loads(refusal.body)["reason"], "AlreadyExists")
        wrong = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="Not_A_Name"))
        body = json.loads(self.refused(422, self.core.create_namespaced_config_map, self.namespace, wrong).body)
        self.assertEqual([cause["field"] for cause in body["details"]["causes"]], ["metadata.name"])

    def test_dry_run_stores_nothing(self):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="ghost"))
        self.core.create_namespaced_config_map(self.namespace, body, dry_run="All")
        self.refused(404, self.core.read_namespaced_config_map, "ghost", self.namespace)

    def test_version_and_who_am_i(self):
        self.assertEqual(client.VersionApi().get_code().major, "1")
        review = client.AuthenticationV1Api().create_self_subject_review(client.V1SelfSubjectReview())
        self.assertEqual(review.status.user_info.username, "kubernetes-admin")
