package input

import (
	"encoding/json"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gocampus/hark/key"
)

// ConfigMaps returns config maps of about 1.4 KB with nothing in common: three
// small settings and a file.
func ConfigMaps() *Set {
	return &Set{
		Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Resource: "configmaps", Protobuf: true,
		group: 1,
		fields: []field{
			text(version),
			text(func(dst []byte, s state) []byte { return uid(dst, s.n, forUID) }),
			seconds(created),
			text(settingValue),
		},
		key: configMapKey,
		encode: func(s state, protobuf bool) ([]byte, error) {
			c := configMap(s)
			if protobuf {
				return c.Marshal()
			}
			return json.Marshal(c)
		},
	}
}

func configMapKey(n int) key.Key {
	return key.Key{Namespace: "team-" + strconv.Itoa(n/services), Name: "config-" + hexText(10, n, forName) + "-" + strconv.Itoa(n)}
}

// settingValue is what a change changes.
func settingValue(dst []byte, s state) []byte {
	return appendHex(append(dst, "rev-"...), 16, s.n, forSetting+s.changes)
}

func configMap(s state) *corev1.ConfigMap {
	k := configMapKey(s.n)
	app := "app-" + hexText(8, s.n, forConfig)
	return &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{
			Name: k.Name, Namespace: k.Namespace, UID: types.UID(uid(nil, s.n, forUID)),
			ResourceVersion: strconv.Itoa(s.version), CreationTimestamp: metav1.Unix(epoch+int64(created(s)), 0),
			Labels: map[string]string{"app": app, "app.kubernetes.io/instance": app + "-prod"},
		},
		Data: map[string]string{
			"revision":         string(settingValue(nil, s)),
			"database.host":    "db-" + hexText(8, s.n, forText) + ".internal",
			"log.level":        "info",
			"application.yaml": "seed: " + hexText(1100, s.n, forText+1) + "\n",
		},
	}
}
