BEGIN TRANSACTION;
CREATE TABLE autosaves (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    base_version INTEGER NOT NULL REFERENCES versions (id),
    body TEXT NOT NULL CHECK (json_valid(body)),
    at TEXT NOT NULL,
    PRIMARY KEY (person, item, base_version)
);
INSERT INTO "autosaves" VALUES('RE',4,4,'{"steps": ["half a sent"]}','2026-11-22T13:03:00.000+00:00');
CREATE TABLE barred (
    person TEXT NOT NULL REFERENCES people (initials),
    item INTEGER NOT NULL REFERENCES items (id),
    PRIMARY KEY (person, item)
) WITHOUT ROWID;
INSERT INTO "barred" VALUES('AU',7);
CREATE TABLE blind_assignments (
    token TEXT PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    scorer TEXT NOT NULL REFERENCES people (initials),
    kind TEXT NOT NULL CHECK (kind IN ('scores', 'pair')),
    place INTEGER NOT NULL,
    -- The one to score, or the left one of a pair.
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    spectrum TEXT REFERENCES spectra (sha256),
    repeat_of TEXT REFERENCES blind_assignments (token),
    gold INTEGER NOT NULL,
    UNIQUE (session, scorer, place),
    CHECK ((kind = 'pair') = (on_the_right IS NOT NULL))
) WITHOUT ROWID;
INSERT INTO "blind_assignments" VALUES('1vWZ08dOzWylS1p5HeRNfX2t_9_51o7wc7HpGrNiPSI',3,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('B8R4cZAlFqe8J0iMGut1wI-2PWJl1mgzWrte0hl4_lg',1,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Bq8Y8U8VJQ_KNxEesVkOuwIPPGepoR4riaPydOeMcCA',1,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('DQOKoBYyGFQ_VPgN88ZCOL9m2qXkwEUicjvBYNRbO5k',3,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('FXNzhyxzx2aryDaflHST7lhXsEjgeD_6Cri_KwDoDiE',2,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('GLDU9Gnq7rcJqSfB5jgU-Osig13-uQO3HfW03PHPl_4',3,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Lwoy3R_XuSnI6IQbIcLqyLpYT0Jv-ke7jwnhNqD7LCY',2,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('MEm_T_Hhv9HIzr6W_9NkOxv8GYoOi5eGhgn7152qZ6E',3,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('RSaJREZxiVYQ5RX1urpFV7rqsOLt6s-UhKM_JFqiyMc',2,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('RXkKFwoUUKuoGQq-YlSAgPQ27eJ_aZMNTGndPbwBzos',2,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('RzRcl95DjMm-ZaXSa_l2XEpd9J4CECSY0Sne6KrMrpM',3,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('Sear_NkdP4o8WYbaQNUNKic3i7ypQmedQd7XfH4OjA4',2,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('TCcWwYVoYGhHTFKqnU1A7tQ9zKGUR6jbRZ-O6VRvr04',1,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('TmIFntx2ds02AmiE9l21qNV2yOJ3dorn4Nm_lZc_wvE',3,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('UdESnPXzfomnYLP03cnd0TbSGB8uahEiFMD0tl6Y7yc',3,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('VSjT9Sw__O_RG0j7vlZElCgxwGXNhJFNSZXYNmcuKU8',3,'RE','pair',5,3,4,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('WO3hcmYb8l5HK3M9H6WbIzdI0xcLj93eIU1DrmvAYa8',2,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('Xlpzb-FcJC2VlaDVs1GShT6KMQGGtddzcsghdJpdP68',1,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('a9lq2mUnBEWwC_rtwJBZt4KwwPkj0V5tJjGv12xHhls',2,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('bQ_P1p-_78nahIUHFegHALH6YZdbBaImbOXFApO0b6I',1,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('cEN7FDquDSVFFFfhLkOwyQKe_G21tD36KDfwdECqb3k',2,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('d6zUTG4S75_6Iwbpj7Qr4E12lx3S54kIx7310xCg6-Y',2,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('h_ErfH6z4KQfWak7yx5at1QtNooz5YkFgwvrxtIoafQ',1,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('kqY8fFWfSG4ooVOcl8N5Wm3rgValEyRqnVKsQlBSYYI',2,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('lzW_iaEYEI0qsMyqoxfZCbtz9B2qy3f-NrKy2nO79H8',2,'RE','pair',6,6,5,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('lz_-6_gFBhHvDGHFdrFBopUUKPdV1olTnao46SP9Mrs',1,'AU','pair',6,4,3,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('o4htvKdvP4e6Z6FIEYzNJGz6w26zQ9CyutcnhFoeOyY',3,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('of6HSh1k-SUFX2A3E47Vlb2c-7jgjc0pZBos06h7Br4',1,'RE','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('pLymp8mO4jttyuHCbEWdOghGgROydXDZQMofhFC1PAw',3,'RE','scores',4,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('q-CVyyzCmkIAotth_aVxwbVy5KODPFW50HlfppIDeJ8',1,'AU','pair',5,5,6,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('sx165lYAewgluc2McrAejoZeeww2eHrQqXcyyBa3-cc',1,'AU','scores',3,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('t-KuNgFSZrALt0l4e97v17Q31AI9VReRtcnOpy2_5bk',3,'AU','scores',2,4,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
INSERT INTO "blind_assignments" VALUES('v0oLhJIJtVOkAaESmz4iCAouLg_GhaZu_P8E3h4yerw',1,'AU','scores',4,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('vK9YN6FH5l2r-MWwkuHFRwB2hE1NHR7CeXkvcYEvyj8',1,'RE','scores',3,5,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('z09UWZoGusMEmowAIkrRVi8x-yljrn7sfv8PHNA-EuU',2,'AU','scores',1,6,NULL,'179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038',NULL,0);
INSERT INTO "blind_assignments" VALUES('zylTp-g5CSuJOX3L2pwfSEfwCqLCDx9pDbVGzDrCXeM',3,'RE','scores',2,3,NULL,'65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76',NULL,0);
CREATE TABLE blind_judgements (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    judge TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    on_the_right INTEGER REFERENCES versions (id),
    -- NULL: nothing that can be read as one.
    answer TEXT CHECK (answer IS NULL OR json_valid(answer)),
    reasoning TEXT NOT NULL,
    settings TEXT NOT NULL CHECK (json_valid(settings)),
    said TEXT NOT NULL CHECK (json_valid(said)),
    usage TEXT NOT NULL CHECK (json_valid(usage)),
    cost REAL,
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_judgements" VALUES(1,'53d1168472b24c799dc458a91f6c866e',1,'judge-70b',3,NULL,'{"coherence": 3, "consistency": 4, "comment": "Sound.", "wrong_steps": []}','First the lines.','{"temperature": 0.0}','["{...}"]','{"requests": 100, "prompt": 20, "cached": 0, "completion": 0}',0.0012,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE blind_preferences (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    preference TEXT NOT NULL CHECK (preference IN ('left', 'right', 'equal', 'both bad')),
    comment TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "blind_preferences" VALUES(1,'c9a14b271d9f436d92f2ed43b74be6d8','B8R4cZAlFqe8J0iMGut1wI-2PWJl1mgzWrte0hl4_lg','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(2,'b7dfbbfa813c4dfd97f4efb720e530fe','h_ErfH6z4KQfWak7yx5at1QtNooz5YkFgwvrxtIoafQ','left','','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(3,'ba271bd9a0ef42bca41e3c5f8536dbf5','Lwoy3R_XuSnI6IQbIcLqyLpYT0Jv-ke7jwnhNqD7LCY','left','','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_preferences" VALUES(4,'60a79f1d1ba24939a3066aeeadd27b20','lzW_iaEYEI0qsMyqoxfZCbtz9B2qy3f-NrKy2nO79H8','left','','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_scores (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    assignment TEXT NOT NULL REFERENCES blind_assignments (token),
    -- NULL: cannot tell from these data.
    coherence INTEGER CHECK (coherence BETWEEN 0 AND 5),
    consistency INTEGER CHECK (consistency BETWEEN 0 AND 5),
    comment TEXT NOT NULL,
    wrong_steps TEXT NOT NULL CHECK (json_valid(wrong_steps)),
    at TEXT NOT NULL
);
INSERT INTO "blind_scores" VALUES(1,'9a312fc19b7f4327beda53196419c7e9','of6HSh1k-SUFX2A3E47Vlb2c-7jgjc0pZBos06h7Br4',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(2,'8a46e74434de4a2d99824a4819e492a7','bQ_P1p-_78nahIUHFegHALH6YZdbBaImbOXFApO0b6I',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(3,'ddfe23c73a6146a2af63bee5cab11d27','vK9YN6FH5l2r-MWwkuHFRwB2hE1NHR7CeXkvcYEvyj8',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(4,'3c0bb6f2b7d3495c918da77bdae46e27','Bq8Y8U8VJQ_KNxEesVkOuwIPPGepoR4riaPydOeMcCA',4,NULL,'Fair.','["s1"]','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_scores" VALUES(5,'c0083251b8634992add8ee6eeb91eb8a','Sear_NkdP4o8WYbaQNUNKic3i7ypQmedQd7XfH4OjA4',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(6,'2876b9fb098b4be7a8feafc7612ec96b','WO3hcmYb8l5HK3M9H6WbIzdI0xcLj93eIU1DrmvAYa8',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(7,'7770365dd8be435e884d1c08ff7977b4','kqY8fFWfSG4ooVOcl8N5Wm3rgValEyRqnVKsQlBSYYI',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_scores" VALUES(8,'c3be655da73140739fe06653bebc0284','a9lq2mUnBEWwC_rtwJBZt4KwwPkj0V5tJjGv12xHhls',4,NULL,'Fair.','["s1"]','2026-11-22T13:23:00.000+00:00');
CREATE TABLE blind_sessions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    plan TEXT NOT NULL CHECK (json_valid(plan)),
    -- What the tasks ask, in the words of the day: task files may change while people score.
    questions TEXT NOT NULL CHECK (json_valid(questions)),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "blind_sessions" VALUES(1,'ba599ec9c4a24ed09b8bad0a47d5e054','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(2,'0c699f850d6c43419c0f45ef7f5633cb','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_sessions" VALUES(3,'7e5d9b518d184e1da29e4c9bd0e5354f','ours against gpt','{"each": 2, "filter": {"batch": null, "disagreement": null, "simulated": null, "snr_max": null, "snr_min": null, "states": [], "survey": null}, "giveaways": "flag", "gold": [], "items": [3, 4, 5, 6], "mode": "both", "name": "ours against gpt", "number": null, "repeats": 0, "scorers": ["RE", "AU"], "seed": 1, "sources": [], "tasks": []}','{"cv": {"guide": "- **State 1: quiescence and low state:**\n  - **(Primary):** Broad emission in the Balmer series, Hα 6563 and Hβ 4861 first; equivalent width of tens of Å, FWHM above about 1000 km/s.\n  - **(Secondary):** Double peaks in Hα, Hβ or He I (an inclined disc): two maxima 500 to 1500 km/s apart around a central dip.\n  - **(Secondary):** Emission of He I 4471, 5876, 6678 and often weak He II 4686; a Balmer decrement flatter than in nebulae.\n  - **(Secondary):** In faint systems the white dwarf shows: broad Balmer absorption around the emission, a blue continuum; TiO bands of the donor in the red.\n- **State 2: outburst and high state (dwarf novae in outburst, novalikes):**\n  - **(Primary):** A steep blue continuum with weak Balmer lines: broad absorption troughs with narrow emission cores, Hα most filled in; Hα often still in emission.\n  - **(Secondary):** He II 4686 and the Bowen blend 4640 in emission.\n- **State 3: magnetic systems:**\n  - **(Secondary):** He II 4686 nearly as strong as Hβ (ratio of equivalent widths above 0.4), narrow asymmetric lines, sometimes cyclotron humps.\n- **Check before deciding:**\n  - **(Check):** Two Balmer lines at one velocity at least; a single line may be a sky residual, a cosmic ray or an arm join. The redshift is that of a star.\n- **(Confusers):** objects that look alike, and how to tell them apart:\n  - **Active M dwarf (dMe):** narrow Hα (unresolved, a few Å of equivalent width) on an M-dwarf spectrum with TiO and CaH, no blue continuum, no He II.\n  - **Nebula, H II region, emission-line galaxy:** narrow lines with [O III] 5007, [N II] 6583, [S II] 6716; a CV shows no forbidden lines (old novae aside).\n  - **Quasar or Seyfert galaxy:** broad lines at wavelengths that fit a large redshift (Mg II 2800, C IV 1549), not the Balmer series near zero velocity.\n  - **Be star, Herbig Ae/Be, T Tauri star:** emission narrower than about 600 km/s on an early-type or late-type photosphere; Li I 6708 in T Tauri stars.\n  - **Symbiotic star:** an M giant''s TiO bands with narrow emission, He II 4686, [O III], Raman O VI 6825.", "question": "Analyze the provided spectrum to determine if it is a **Cataclysmic Variable (CV)**.", "title": "Cataclysmic Variable (CV)"}}','[]','CO','2026-11-22T13:03:00.000+00:00');
CREATE TABLE blind_states (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    session INTEGER NOT NULL REFERENCES blind_sessions (id),
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    rubric TEXT CHECK (rubric IS NULL OR json_valid(rubric)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL,
    UNIQUE (session, state),
    CHECK ((state = 'open') = (rubric IS NOT NULL))
);
INSERT INTO "blind_states" VALUES(1,'6df344f63efe4b18ac0c55c55d928415',1,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:03:00.000+00:00');
INSERT INTO "blind_states" VALUES(2,'93faad5a27974d68bd333cec5ac22e16',2,'open','{"version": "1", "note": "The published evaluation names two anchors, 0 (complete hallucination) and 5 (fully correct). The anchors 1 to 4, the questions and the choices between two traces were written for this program.", "cannot_tell": {"short": "cannot tell", "text": "These data do not let me judge it: too noisy, too short a range, or outside what I know. It counts as an answer, not as a low score."}, "scales": [{"key": "coherence", "title": "Coherence", "question": "Does each step follow from what was seen before, and the answer from the steps? Judge the reasoning, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "No line of thought. The steps refer to things that were never looked at or said, and the answer comes from nowhere.", "published": true}, {"score": 1, "short": "mostly incoherent", "text": "Single sentences make sense, but steps contradict each other or do not lead on, and the answer does not follow.", "published": false}, {"score": 2, "short": "broken", "text": "There is a line of thought with a break in it that matters: a contradiction left standing, or an answer that the steps do not bear.", "published": false}, {"score": 3, "short": "loose", "text": "The answer follows in the main, but a step is missing, needless or repeated, or a window is opened and then not used.", "published": false}, {"score": 4, "short": "sound, small lapses", "text": "Each step has its reason and the answer follows. A slip or two that changes nothing.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every step follows from what was seen, alternatives are weighed where there are any, and the answer follows from all of it.", "published": true}]}, {"key": "consistency", "title": "Physical consistency", "question": "Is what it says about the spectrum there, and does the physics hold: lines, wavelengths, frames, widths, what they mean? Judge the claims, not whether the verdict is right.", "anchors": [{"score": 0, "short": "complete hallucination", "text": "What it describes is not in the spectrum, or is physically impossible throughout.", "published": true}, {"score": 1, "short": "mostly wrong", "text": "One or two claims hold. Most features are misnamed, misplaced or not there.", "published": false}, {"score": 2, "short": "a serious error", "text": "Several claims hold, but one that the argument rests on is wrong: a line that is not there, the wrong frame, noise or sky taken for a feature.", "published": false}, {"score": 3, "short": "right in the main", "text": "The features that decide are right. Others are wrong, overstated, or claimed where the data cannot show them.", "published": false}, {"score": 4, "short": "right, small errors", "text": "All features of weight are there and rightly read. A small error in a number, a name or a strength.", "published": false}, {"score": 5, "short": "fully correct", "text": "Every claim can be seen in the spectrum and is rightly interpreted, and noise and limits of the data are named where they matter.", "published": true}]}], "preference_question": "Whose reasoning about this spectrum is better? Judge the reasoning, regardless of the verdict.", "choices": [{"key": "left", "short": "left better", "text": "The reasoning on the left is better: sounder, or truer to the spectrum."}, {"key": "right", "short": "right better", "text": "The reasoning on the right is better: sounder, or truer to the spectrum."}, {"key": "equal", "short": "equal", "text": "Both are about as good, and good enough to be of use."}, {"key": "both bad", "short": "both bad", "text": "Neither is of use. Choose this rather than the less bad one."}]}','CO','2026-11-22T13:23:00.000+00:00');
INSERT INTO "blind_states" VALUES(3,'6bc384ddffc24c5fbcc65874c404f1de',1,'closed',NULL,'CO','2026-11-22T13:43:00.000+00:00');
CREATE TABLE decisions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    verb TEXT NOT NULL,
    reason TEXT NOT NULL,
    comment TEXT NOT NULL,
    withdraws INTEGER UNIQUE REFERENCES decisions (id),
    rules INTEGER NOT NULL REFERENCES settings (id),
    at TEXT NOT NULL,
    CHECK ((verb = 'undo') = (withdraws IS NOT NULL))
);
INSERT INTO "decisions" VALUES(1,'9e68056f67484c2980db710ae07ee8ca',1,1,'RE','screening','keep','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(2,'bb09f7d90bc9489c8a92488633c0f8d9',1,1,'RE','revision','submit','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(3,'c86032d629064389addd336d0efdacb4',1,1,'AU','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(4,'44a4b50fbaf74c5d802e5589ed35c470',1,1,'AX','audit','pass','','',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(5,'2d423ee10140490c9cb8c0de15fb849c',1,1,'VO','vote','approve','','Fine.
Two lines.',NULL,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(6,'9642065481ee42cf92604daab8ed31b4',1,1,'VO','vote','undo','','',5,2,'2026-11-22T12:00:00.000+00:00');
INSERT INTO "decisions" VALUES(7,'a7f8cd6a79764442a7da3f524d5968cf',1,1,'VO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(8,'d31b0e4b06324f6dbd9c424d05286ce9',1,1,'ZO','vote','approve','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(9,'7852fbfb6aa9411ab2c7321a93da1f80',2,2,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(10,'cc0115917c484425bfc86f17e993e81e',2,2,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(11,'040c2ce7d56a4d6986070189854bb584',2,2,'AU','audit','return','','look again',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(12,'4a33111049774517a9f5f7d8f91b2104',7,7,'RE','screening','keep','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(13,'6234d50705ec45ae8bf0761a42f3f0ec',7,7,'RE','revision','submit','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(14,'539d6563c1c0483f8a77962fbcae2f14',7,7,'AU','audit','pass','','',NULL,2,'2026-11-22T12:03:00.000+00:00');
INSERT INTO "decisions" VALUES(15,'3212ef8a76224b2981fc53505ca07ab7',9,9,'RE','screening','reject','bad_data','',NULL,2,'2026-11-22T12:03:00.000+00:00');
CREATE TABLE exports (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    manifest TEXT NOT NULL CHECK (json_valid(manifest)),
    at TEXT NOT NULL
);
INSERT INTO "exports" VALUES(1,'first','CO','{"items": [1], "note": "größer"}','2026-11-22T12:03:00.000+00:00');
CREATE TABLE grids (
    sha256 TEXT PRIMARY KEY,
    pixels INTEGER NOT NULL,
    wavelength_type TEXT NOT NULL CHECK (wavelength_type IN ('<f4', '<f8')),
    wavelength BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO "grids" VALUES('c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626',300,'<f8',X'789CEDC1F923138A03007047B2353247ACD058CD726D29D764C895AB7DB7F608152B42CB44C815CB99A369F12CE67AE426B98F5C89468A1C092B32595A52B926E69BF723F5DE0FDF3FE0FBF908E8861AFB0D59E7CF3E0F5C6BF5F6743D9678336CF7B9901922844843BD916D2811B032CB0FBF8B703F46675A9BD2A57B8E5E495E750BDF0D9F30DF88CC6346B017A0633D299822945E4E701A706179ADB78F567733363FF94107B0A41D79854475EB481D8CAC768C4605C6B41499BC8F1CF17C393D51040173B2941FDBD0BB4AA054D3D1D63A55362945C1E850A510244E3E8C6FB6594F975B5B2FB9202AA44C2B571A7F9F96C77DA51D314DD60CD910E7725BC6B307DF5B7F4A50BC648CE430099F2DD6CDD2519CE1AFEBF07E0F63E345DB708946FDE4374686C9A872F82575B7C35AFBC968236DA7C751D93257F1FBF6BA27F58A9DABCE5865103C0AA192F992F68EBD5A2C889432278C4F116D5E0F4F352349C465AD1CD520426A24461E8DE1CC235FE140565B029FF6FC177253BE1590FC42EB98D9C71AE7BAAE56B0DF5471F085FE1ADFF934B26487CBB397788B5D0E417297846081068653B22127743FDFFEF2088607F3BC32EF1B13AEABB045E6C6A0624B48A45FAACD3541F5539CFEDD2CD6EC11D5E756D66F43656589CECB05215215301E41A6B761EEB0107B0DCF22A6C3735393E45ED89ECE551774A0595A17D588DE4B4E2F966FE99C324CE0E367182278E7D2F0A18BD552A50158FE11FFEBCDEFA31DA01D066D8594FD14112CEEC291E77D2A049B44A5AA20C2808246C1A265D98FCFD083973DD3AF539C9A83D24F0B5E380D82479268B27FC2CE7B4BE4CA29023E25DF7382012560F01F11C5FE02C971B144242EA4961408912E4C37CBD432BD00830517DEAF6222F2A2FE72CAE23A6503EE8D2AFB5CA32EC6AC3131A1015B02878FF34E09CB5E97DBE382CA9BD5EA17395ABDE25BA0E083467CB1DAB5BCBA34D5105B5939662A71C9C3D6827655E19BF6C9008DE1E19CAA98DCC41130EB75FEA2FFFB657F04DBBF85C16B9D713DEEFE53AA196CE8D975FBABD19367F975C4BD48FD12C1FE6CD13255943723F0D91F2BB7C6D889CC94EF7309F31AD7D87530D29BDAB34A7EF5AEDC91C26F5676F9BC4D5FE96A79F5275DF0B71FED0E78E2F87FE2C9C8A9112F01E08A1169D75F1384E64E7839D44123DE81AAAED7F1AEF23C44BE0440CBA48ECE99FA6C461781036908A0B88CE844AC6422A03C4BC2246043DD4BB1ADB7DB6CDA485C78268026FD918FE50CAA4AB7130D73DEDADFA84DBA7DC2020BD0A2AD99BBE8F62915D6F68BDD0DE51D73EBA482E24E3728B249B09BDFD7E5A706E3D28B1DED715B023A3A62CF830EB1CA72999AD30B976CEA2BCDA242B49FA212A78DEAB0FBE1141DFB0511170088AC73551633A7F0C1D46CDE14275FB1C7D0E6841CA732C806A9762A69AB9CDE6305B55FDC0C0F1796EB046D647C159A8CDF436E5C5239C7987798CD4EAA3B34BDE48E89B3BAE3DCDA7CBEA23614482AEC1E1C1A662D2328C26D8D1B7729AFD34768E37528FCE11A1184F266772446787264F1E4CBAC561D69D743244C49BDCFA418602209D16CC7CDF2F5790099F87E055B9EC8E3176CEEE5DC01878E1DA34B94FA90CAF495AFA1C8DA34AA5E46E7E3BB58C18610FBB3495B6D2376BAD9C932467215400CC1C9F9F2ED1726CBDFCD7FAA8D8A4F3B27846126BDBE04C98EF5FEF0B78AD16B600C389BA59C0E4710803864C5E003B56BC176CB812C8447CE1B598F7EC2960040D93676089979A0CCF667273D3C302283B9EB8F06D54796DFCA831D6DB0EED4DE7D2D2B7AD1E37AB99277C0B9BAE3D17ABC76DA55BC09DAD0DAF556F934D4AB054259242FC740BBFD35973A3329644F52484A2307EA5E2B7EFD83CB6CA054B3B7DA726F714A42527AF5A888C96D967E3E84817872597624CBEF8C09DA18E793FE4AEA621B9C215F6A3E9FEBAA29FA953DF31D74DCB3F4877DBB4EB3ED673A4EEECB407B6B0F1B6048194466EECBD16151FF7370933BBB20A24E2CE039F658BEF6957F931BECEA70DE8FDE274E7CAA5D6F3977FF2C42746D6DB78A03FDA365A37E9FF741767D46726AD910F04C855CAA52870F4A88F396BD71C8B50274F3672A7AA92D233E21BB8B6F3904B449E35A3E54BC7FA018331987E6B5513D6DF58F6A61CEF8310640670AB63EFD94513371204733AA7A2657403034CE3382FEB0FBDD320866708614C5A8E99BE103F7C19006A70844EF90D8949CF2A6EEA1A9F91F2252500DB42581E813164F7F50D5FE62626E4508ACA88E3E65EFE647A1669636315F7F58DCDAABA06E6075D623203A25AFAA6360F2CB26E8802ADACAD133288E5E54FF6C94B32AB20FAE6361EF7123EE7E7153EF047703A4A089C1BAFA46A516D433C7B97CB183A89384CB37E21915ED831F5645F76B18E1DD6EC46756768E7C5C17533A6EE9E47D2BB5F8F1C0CC2A5051CBC2891C9956D63E3CC7071F4663DD82EFE435BE64F340CABA761783A8F94D03B31B60150CE1CA2DFAC32ED622E0A08E9D5B584A69E7F83751A82ED623825EC99C5A139551D2D0B7C0BB9082A26959A50D4F5FBDE3F284C18A6A7AE67817EF90B8D48A8A87DB2AB73DDA56F52FAAFFA9E69F6A7F57F79BFADF34FCAAF1174DBF68DEE9F14E2D3BB4EED0B6AD7D5BC7B627FFA2730793FFFB9FFD0D7CFB8B39');
CREATE TABLE items (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    spectrum TEXT REFERENCES spectra (sha256),
    name TEXT NOT NULL,
    task TEXT NOT NULL,
    drafter_kind TEXT NOT NULL,
    drafter_name TEXT NOT NULL,
    label TEXT CHECK (label IN ('YES', 'NO')),
    simulated INTEGER NOT NULL,
    batch TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    added_at TEXT NOT NULL
);
INSERT INTO "items" VALUES(1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(2,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6','034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','spec-0000.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(3,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(4,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03','65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','spec-0001.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(5,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(6,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7','179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','spec-0002.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(7,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','gpt-5','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(8,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e','0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','spec-0003.fits','cv','model','Spec-o3-7B','YES',0,'november','LAMOST',20.0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "items" VALUES(9,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,'gone.fits','cv','baseline','rule 1',NULL,0,'','',NULL,'2026-11-21T12:00:00.000+00:00');
PRAGMA writable_schema=ON;
INSERT INTO sqlite_master(type,name,tbl_name,rootpage,sql)VALUES('table','items_text','items_text',0,'CREATE VIRTUAL TABLE items_text USING fts5 (text, content='''', tokenize=''trigram'')');
CREATE TABLE 'items_text_config'(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT INTO "items_text_config" VALUES('version',4);
CREATE TABLE 'items_text_data'(id INTEGER PRIMARY KEY, block BLOB);
INSERT INTO "items_text_data" VALUES(1,X'09812F');
INSERT INTO "items_text_data" VALUES(10,X'000000000109090009010101020101030101040101050101060101070101080101090101');
INSERT INTO "items_text_data" VALUES(137438953473,X'000000A004300A313401021001032D303001020601032E666901020B0103302E6601020A0202302E0102090301300104070301033132330102140202343801021101033233340102150103333435010216010334383101021201033831320102130103632D30010205010365632D010204010366697401020C010369747301020D01037065630102030103730A3101020F02027065010202010374730A01020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(274877906945,X'000000A004300A313402021001032D303002020601032E666902020B0103302E6602020A0202302E0202090301300204070301033132330202140202343802021101033233340202150103333435020216010334383102021201033831320202130103632D30020205010365632D020204010366697402020C010369747302020D01037065630202030103730A3102020F02027065020202010374730A02020E0408080808070708070808080808080808080807');
INSERT INTO "items_text_data" VALUES(412316860417,X'000000A604300A313403021001032D303003020601032E666903020B01033030300302070301310302080202312E0302090103312E6603020A020232330302140202343803021101033233340302150103333435030216010334383103021201033831320302130103632D30030205010365632D030204010366697403020C010369747303020D01037065630302030103730A3103020F02027065030202010374730A03020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(549755813889,X'000000A604300A313404021001032D303004020601032E666904020B01033030300402070301310402080202312E0402090103312E6604020A020232330402140202343804021101033233340402150103333435040216010334383104021201033831320402130103632D30040205010365632D040204010366697404020C010369747304020D01037065630402030103730A3104020F02027065040202010374730A04020E040808080806070807070808080808080808080807');
INSERT INTO "items_text_data" VALUES(687194767361,X'000000A604300A313405021001032D303005020601032E666905020B01033030300502070301320502080202322E0502090103313233050214020234380502110103322E6605020A020233340502150103333435050216010334383105021201033831320502130103632D30050205010365632D050204010366697405020C010369747305020D01037065630502030103730A3105020F02027065050202010374730A05020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(824633720833,X'000000A604300A313406021001032D303006020601032E666906020B01033030300602070301320602080202322E0602090103313233060214020234380602110103322E6606020A020233340602150103333435060216010334383106021201033831320602130103632D30060205010365632D060204010366697406020C010369747306020D01037065630602030103730A3106020F02027065060202010374730A06020E040808080806070807080708080808080808080807');
INSERT INTO "items_text_data" VALUES(962072674305,X'000000A604300A313407021001032D303007020601032E666907020B01033030300702070301330702080202332E07020901033132330702140202343807021101033233340702150103332E6607020A02023435070216010334383107021201033831320702130103632D30070205010365632D070204010366697407020C010369747307020D01037065630702030103730A3107020F02027065070202010374730A07020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1099511627777,X'000000A604300A313408021001032D303008020601032E666908020B01033030300802070301330802080202332E08020901033132330802140202343808021101033233340802150103332E6608020A02023435080216010334383108021201033831320802130103632D30080205010365632D080204010366697408020C010369747308020D01037065630802030103730A3108020F02027065080202010374730A08020E040808080806070807080807080808080808080807');
INSERT INTO "items_text_data" VALUES(1236950581249,X'0000003C04302E66690902060103652E6609020501036669740902070103676F6E090202010369747309020801036E652E09020401036F6E6509020304080808080808');
CREATE TABLE 'items_text_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
INSERT INTO "items_text_docsize" VALUES(1,X'15');
INSERT INTO "items_text_docsize" VALUES(2,X'15');
INSERT INTO "items_text_docsize" VALUES(3,X'15');
INSERT INTO "items_text_docsize" VALUES(4,X'15');
INSERT INTO "items_text_docsize" VALUES(5,X'15');
INSERT INTO "items_text_docsize" VALUES(6,X'15');
INSERT INTO "items_text_docsize" VALUES(7,X'15');
INSERT INTO "items_text_docsize" VALUES(8,X'15');
INSERT INTO "items_text_docsize" VALUES(9,X'07');
CREATE TABLE 'items_text_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
INSERT INTO "items_text_idx" VALUES(1,X'',2);
INSERT INTO "items_text_idx" VALUES(2,X'',2);
INSERT INTO "items_text_idx" VALUES(3,X'',2);
INSERT INTO "items_text_idx" VALUES(4,X'',2);
INSERT INTO "items_text_idx" VALUES(5,X'',2);
INSERT INTO "items_text_idx" VALUES(6,X'',2);
INSERT INTO "items_text_idx" VALUES(7,X'',2);
INSERT INTO "items_text_idx" VALUES(8,X'',2);
INSERT INTO "items_text_idx" VALUES(9,X'',2);
CREATE TABLE leases (
    id INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    person TEXT NOT NULL REFERENCES people (initials),
    round TEXT NOT NULL,
    taken_at TEXT NOT NULL,
    renewed_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended TEXT CHECK (ended IN ('decided', 'released', 'round over', 'expired', 'deactivated'))
);
INSERT INTO "leases" VALUES(1,'3O9QrPRNTi_u8cq4146IOucxIh_275lUhYqiFg8SM4c',1,'RE','screening','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(2,'L_bHaxetR6CI0_OWct7Wef4-X7jspIWahqVCO06Pys8',1,'RE','revision','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(3,'_uaZyFSLaLTzQvtSG4aRAqTz-H9GcN2sQ7l3opMScsc',1,'AU','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(4,'tWj68gfmTuh_8dGnLzvA4cySo2OR39obfEHY9ov-PsI',1,'AX','audit','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(5,'jrBe9Aq4P6jytRyC_fynQ2sJY50BTK4g2Jm8ptFcFPk',1,'VO','vote','2026-11-22T12:00:00.000+00:00','2026-11-22T12:00:00.000+00:00','2026-11-22T12:15:00.000+00:00','decided');
INSERT INTO "leases" VALUES(6,'bGlbCShwoCwDMjbndPSf8FCpdneTHqc3qo2PyHDeSc8',1,'VO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(7,'yxx17xB6yLETKHoLbme-PtEq6PThgteKBP-_kj7928Y',1,'ZO','vote','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(8,'J6VNOd7FmAQvhD4TDzKV47MIyEoVnYxJ70Gm0HNrW5w',2,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(9,'DULGrlSMg9b5OjGwTvHCVJj0e7HopdtIriR3tXGHv6c',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(10,'MEU3TG1s8Duu_u_v505mkkx3TQxOuRL6kR9dwZe86ig',2,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(11,'6gI8HBXrRpeEm8r7uAs_zXEA3caDetBATmuQ4PwB6vc',2,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(12,'ZLIATDNQGzSjcwbDM254ZGqp9yOBWYpkO9APce-MKI0',7,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(13,'Dg2D_RpXIPTSD7yBSc2ArgTlKdcby-qlxLDGBA1Q2oQ',7,'RE','revision','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(14,'QErp2nnZVf5_nl6guTGURoL5N6QE582yYdMlGLEkruQ',7,'AU','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(15,'6NlsdPHoMYhoJkWJJc0-il3wewE11sM9SnVTvcjWcRs',9,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','decided');
INSERT INTO "leases" VALUES(16,'AKTbLH1Tc4QAUvRAhVhfek8e8SBbKyPgTNv6P8TeCTc',3,'RE','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','released');
INSERT INTO "leases" VALUES(17,'HfIGrfv271bOsi9yRZqc3hkyU7v9mHwS5zS6eOlVhxw',7,'AX','audit','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(18,'pHPlBXtZbpzDB6oO8psTKLyXoOVnAxtl-CpRuLBqD_g',4,'VO','screening','2026-11-22T12:03:00.000+00:00','2026-11-22T12:03:00.000+00:00','2026-11-22T12:18:00.000+00:00','expired');
INSERT INTO "leases" VALUES(19,'blfPzfqdqI4mzv2rnqr69Mstg99VZ65-2TcEpgaZhX4',4,'RE','screening','2026-11-22T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00','2026-11-22T13:18:00.000+00:00',NULL);
CREATE TABLE log (
    number INTEGER PRIMARY KEY CHECK (number > 0),
    at TEXT NOT NULL,
    -- NULL: whoever holds the file itself, or somebody who is not signed in.
    person TEXT REFERENCES people (initials),
    what TEXT NOT NULL,
    subject TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
INSERT INTO "log" VALUES(1,'2026-11-21T12:00:00.000+00:00',NULL,'log begun','settings','{"count":1,"facts":{"settings":[1,1,1,"c889aa3a39d70843fa7a39ea792d432c8cca6b4d4ff4b5c4fd8026cb4bdd3248"]}}','0000000000000000000000000000000000000000000000000000000000000000','ccc4afba3ece28ae09e79bd9a7181ee21d3d99baa81a8b738368aeab62b19624');
INSERT INTO "log" VALUES(2,'2026-11-21T12:00:00.000+00:00',NULL,'person added','RE','{"people":{"RE":"4ffc31bd6030bebde8466ad26b5ecbb6adab970dc19f71b2ab24a9e7c46c6424"},"roles":["reviewer"]}','ccc4afba3ece28ae09e79bd9a7181ee21d3d99baa81a8b738368aeab62b19624','66da0d9ed12dfc8701f05643f5378f5f5e0b5e1790c5154e9430bb36d9b6d432');
INSERT INTO "log" VALUES(3,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AU','{"people":{"AU":"ba41626517611142e220083da52d29b95b8f219fd29923733092bbd395ba1442"},"roles":["auditor"]}','66da0d9ed12dfc8701f05643f5378f5f5e0b5e1790c5154e9430bb36d9b6d432','35c82ebea03796890285f4bfa5481b6f46218088cbdf8329301a55966cc6e5d2');
INSERT INTO "log" VALUES(4,'2026-11-21T12:00:00.000+00:00',NULL,'person added','AX','{"people":{"AX":"94324b0b0cedfdc3eadb0c9414f9c13249be615ad7e39e3fae995d07d9fb9bf6"},"roles":["auditor"]}','35c82ebea03796890285f4bfa5481b6f46218088cbdf8329301a55966cc6e5d2','733ed5122feda2a2dcf56b0f10881011df320452265c2caf483f7e2f955aaa34');
INSERT INTO "log" VALUES(5,'2026-11-21T12:00:00.000+00:00',NULL,'person added','VO','{"people":{"VO":"4a4699490db6743b872754a1253a2a58ce22b0339bb7f3deb3bf9967ba154c40"},"roles":["reviewer"]}','733ed5122feda2a2dcf56b0f10881011df320452265c2caf483f7e2f955aaa34','effac2601e3a4bfadac59bfbf911184e2cb1d6ab94ffb60ba04ffaf77684d71f');
INSERT INTO "log" VALUES(6,'2026-11-21T12:00:00.000+00:00',NULL,'person added','CO','{"people":{"CO":"dd864c1b73198be0ff4b303ddc7870025b6312f0e25267c725c6a95a70b6c979"},"roles":["coordinator"]}','effac2601e3a4bfadac59bfbf911184e2cb1d6ab94ffb60ba04ffaf77684d71f','588f82b6125943504166805be6cae2ee33806471ffdfe279a4242ac0bd775afe');
INSERT INTO "log" VALUES(7,'2026-11-21T12:00:00.000+00:00',NULL,'person added','JU','{"people":{"JU":"a0479ed58460e5069fe62c36dc17a3d60c4cf0b0c98415d591ff3867e6c81b84"},"roles":["auditor"]}','588f82b6125943504166805be6cae2ee33806471ffdfe279a4242ac0bd775afe','bfe2e585726bfbd87b9c44a4295005bc552a343f9c54b14b833789787b7d4759');
INSERT INTO "log" VALUES(8,'2026-11-21T12:00:00.000+00:00',NULL,'person added','ZO','{"people":{"ZO":"7d1581a73365199603c2fd37a56702aa970f65ece9ac82a8e7bab5fe3c4cee83"},"roles":["auditor","reviewer"]}','bfe2e585726bfbd87b9c44a4295005bc552a343f9c54b14b833789787b7d4759','05232c8e83a547021304729e59d0848cdb2165e6fd16303420cf4a4422089372');
INSERT INTO "log" VALUES(9,'2026-11-21T12:00:00.000+00:00','CO','rules set','rules','{"before":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":2},"facts":{"settings":[2,2,1,"6a1085363c13c03b0bbad93ffed0cc6fc69d7ebac2571fe1df654470e4d00161"]},"rules":{"approve_at":2,"auditors":2,"reject_at":2,"solo":false,"votes":3}}','05232c8e83a547021304729e59d0848cdb2165e6fd16303420cf4a4422089372','43847522c74cf67828d2f5869db6dcc1f1991a3b511572ddf916410968e4b49d');
INSERT INTO "log" VALUES(10,'2026-11-21T12:00:00.000+00:00','CO','setting set','campaign','{"facts":{"settings":[3,3,1,"7026fece3c7ac51c65b625007ad5f8e0b5878fb46f9323153cf39438e1734d44"]}}','43847522c74cf67828d2f5869db6dcc1f1991a3b511572ddf916410968e4b49d','88bc71b57c925733629887154316f50d20db3b62084f5ff084cc896fc5a93723');
INSERT INTO "log" VALUES(11,'2026-11-21T12:00:00.000+00:00',NULL,'items added','items 1 to 9','{"count":9,"facts":{"items":[1,9,9,"9ce4e91978a89fe5853fc246b340d09d2d9931be2e3ee777af22c9a5282e6833"],"versions":[1,9,9,"9e605eaa17f935b1b9391740af603a762ec3f8f06fea4f443db2a08ddc5480bd"]}}','88bc71b57c925733629887154316f50d20db3b62084f5ff084cc896fc5a93723','11629d0162408391cfec3f3535acd3771deba5130a65d7e9cfb0f60cbabb3f0f');
INSERT INTO "log" VALUES(12,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[1,1,1,"7747a108ec9f77d295bd038fef3b90241f779c687557ab846da9c264e1195880"]},"round":"screening","verb":"keep","version":1}','11629d0162408391cfec3f3535acd3771deba5130a65d7e9cfb0f60cbabb3f0f','3c7af44ba24f44a1fa2e11bc51ec25b35019ba70f1d9cdf4cada0f913026f4ad');
INSERT INTO "log" VALUES(13,'2026-11-22T12:00:00.000+00:00','RE','decided','item 1','{"facts":{"decisions":[2,2,1,"df4fd216931a24d39cfc22233f27321ab870b04e769c107ab49df7e391d4d56c"]},"round":"revision","verb":"submit","version":1}','3c7af44ba24f44a1fa2e11bc51ec25b35019ba70f1d9cdf4cada0f913026f4ad','04d88d62123f535dc1704dd971e83faafd69e38ecb42e70c0c5665abbf31c147');
INSERT INTO "log" VALUES(14,'2026-11-22T12:00:00.000+00:00','AU','decided','item 1','{"facts":{"decisions":[3,3,1,"f645464480f8be8b35086c45160c521c81eab94a83ec8f6ac6db2d2174894b3a"]},"round":"audit","verb":"pass","version":1}','04d88d62123f535dc1704dd971e83faafd69e38ecb42e70c0c5665abbf31c147','d3c6402c542ee9545e71c3ea9009264129a2589e7c95805c3950979e31228b4c');
INSERT INTO "log" VALUES(15,'2026-11-22T12:00:00.000+00:00','AX','decided','item 1','{"facts":{"decisions":[4,4,1,"3bc256bbdfd0ab7d56c4bcecc86df0fcaba14edcde40906cd84b84f43f8d254a"]},"round":"audit","verb":"pass","version":1}','d3c6402c542ee9545e71c3ea9009264129a2589e7c95805c3950979e31228b4c','756630ae55fd49b7e53de30ec2816a5fb7f2b675a04a1542ecf23037ecdba96d');
INSERT INTO "log" VALUES(16,'2026-11-22T12:00:00.000+00:00','VO','marked','item 1','{"facts":{"marks":[1,1,1,"d4dab8863ad91c519a7f8054b5b86f0d43563a9ba6b062dbc500496a85f986dc"]},"mark":"hallucinated feature","step":"s3","version":1}','756630ae55fd49b7e53de30ec2816a5fb7f2b675a04a1542ecf23037ecdba96d','dacfc8c98adfd071337af28f45c23eb1be6b163c55f2e601ab7f1224ce8b2113');
INSERT INTO "log" VALUES(17,'2026-11-22T12:00:00.000+00:00','VO','verdict committed','item 1','{"facts":{"verdicts":[1,1,1,"5315470dab9b5a6f8b1b4dbf2ea6f2aa2859007a36f97a29eab1e7a76a267e6c"]},"verdict":"cannot tell","version":1}','dacfc8c98adfd071337af28f45c23eb1be6b163c55f2e601ab7f1224ce8b2113','b4a95d5fa1ad2cb1bdf741d6301a567b8bda509af67a295c152e733947dbb8dc');
INSERT INTO "log" VALUES(18,'2026-11-22T12:00:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[5,5,1,"ac5f5e5e010d25017f390352139e716ba77e0d54a566e96e02ddd6fcac0f09df"]},"round":"vote","verb":"approve","version":1}','b4a95d5fa1ad2cb1bdf741d6301a567b8bda509af67a295c152e733947dbb8dc','37970c4f64154efe3a29def9c777d6d716f1ec0fb1294c5cc306b1aebadffb23');
INSERT INTO "log" VALUES(19,'2026-11-22T12:00:00.000+00:00','VO','undone','item 1','{"facts":{"decisions":[6,6,1,"97f603233fb93d8de47e7f71c7e76e4afbdc91477fd452d96a512b8dd57bb3bb"]},"round":"vote","verb":"undo","version":1,"withdraws":5}','37970c4f64154efe3a29def9c777d6d716f1ec0fb1294c5cc306b1aebadffb23','5379f6b7f0bf25f27dabd83782b837906e06e45fdc01e217d773b3bb8a18e6bb');
INSERT INTO "log" VALUES(20,'2026-11-22T12:03:00.000+00:00','VO','decided','item 1','{"facts":{"decisions":[7,7,1,"f0fcef3a6708dea93a55da7570119cb50987b46fb40f008a54411f69da9c77e2"]},"round":"vote","verb":"approve","version":1}','5379f6b7f0bf25f27dabd83782b837906e06e45fdc01e217d773b3bb8a18e6bb','6c98a38c646e6bbd01165b3f45a2b4fab6696c8ae5b7a8aa76fa726a8b6baf5e');
INSERT INTO "log" VALUES(21,'2026-11-22T12:03:00.000+00:00','ZO','decided','item 1','{"facts":{"decisions":[8,8,1,"e056ecc616b58d1655f2088d07358c3b1182e97cb412c8ebb2ddf0471d5bdf04"]},"round":"vote","verb":"approve","version":1}','6c98a38c646e6bbd01165b3f45a2b4fab6696c8ae5b7a8aa76fa726a8b6baf5e','707c50059fa40f144c0759b250e6e9a2f5301dc968dff090e55f0bf576a48e38');
INSERT INTO "log" VALUES(22,'2026-11-22T12:03:00.000+00:00','CO','exported','first','{"facts":{"exports":[1,1,1,"aa384363c82d296e8c7af99c87200923b473a4ea4d5ebe282b4b1d50979f5a7f"]}}','707c50059fa40f144c0759b250e6e9a2f5301dc968dff090e55f0bf576a48e38','491d15697a9c77417e1fdab133b70141e7a252b73659978bb69e41054db5f8b5');
INSERT INTO "log" VALUES(23,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[9,9,1,"a98a17d652241bc31ea3ad975bcf38724678b47d086cbbc967f8519496a2b141"]},"round":"screening","verb":"keep","version":2}','491d15697a9c77417e1fdab133b70141e7a252b73659978bb69e41054db5f8b5','0b937080d9780436fdf873e00f21d919d9a1f04a08825b93b7435f3d4968bed8');
INSERT INTO "log" VALUES(24,'2026-11-22T12:03:00.000+00:00','RE','decided','item 2','{"facts":{"decisions":[10,10,1,"dd4e1c6c6cfd7378f61d05af7218bd5e0bbc822c40e22b62c068d2223d860b5b"]},"round":"revision","verb":"submit","version":2}','0b937080d9780436fdf873e00f21d919d9a1f04a08825b93b7435f3d4968bed8','5e521d198aa82e178dda50d84d05d9af4b62dfdff78ea6a94d4f08b5661875f5');
INSERT INTO "log" VALUES(25,'2026-11-22T12:03:00.000+00:00','AU','decided','item 2','{"facts":{"decisions":[11,11,1,"0c5b2aff1d15b19cecb637c316476d5b9064052219e9bfade315b35b85fef8af"]},"round":"audit","verb":"return","version":2}','5e521d198aa82e178dda50d84d05d9af4b62dfdff78ea6a94d4f08b5661875f5','36800ba746dfe350578f4587094f564a559d6233c3acb4400c997a707d8d7a6d');
INSERT INTO "log" VALUES(26,'2026-11-22T12:03:00.000+00:00','RE','version saved','item 2','{"facts":{"versions":[10,10,1,"10beb4690c414df8d7085f963043d7f94b26a7194eed54a33c153a29a6354538"]},"number":2}','36800ba746dfe350578f4587094f564a559d6233c3acb4400c997a707d8d7a6d','e48f74b2a8a5feb3cfa4ba10b96d8584ab6132964272fe79df8b57df9fb8f073');
INSERT INTO "log" VALUES(27,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[12,12,1,"5820d6962cd8f88d47a53d2d124f5571e39eb99f8f2a5db9a2cd4b2f59ee1231"]},"round":"screening","verb":"keep","version":7}','e48f74b2a8a5feb3cfa4ba10b96d8584ab6132964272fe79df8b57df9fb8f073','4e8b0796802a09963718604b08177261a0f3ce571552c728d51c4e71452e76a1');
INSERT INTO "log" VALUES(28,'2026-11-22T12:03:00.000+00:00','RE','decided','item 7','{"facts":{"decisions":[13,13,1,"191b18a04fc459edd35936f866619f668570a12dc8608a131191407d9b487f4b"]},"round":"revision","verb":"submit","version":7}','4e8b0796802a09963718604b08177261a0f3ce571552c728d51c4e71452e76a1','d1cf95768f3f1d7cbb4483457d0a27bc8078e5d82f9aec1a50e9ea645e0aa0ce');
INSERT INTO "log" VALUES(29,'2026-11-22T12:03:00.000+00:00','AU','decided','item 7','{"facts":{"decisions":[14,14,1,"307f1a7c78b949f057ef16215dca87844e964e73ff6368df30c81b42d54cbf18"]},"round":"audit","verb":"pass","version":7}','d1cf95768f3f1d7cbb4483457d0a27bc8078e5d82f9aec1a50e9ea645e0aa0ce','e123b55a933f7691429df435fb4c195d86ac0f1a5529b5e4672e7e5a72498d1a');
INSERT INTO "log" VALUES(30,'2026-11-22T12:03:00.000+00:00','RE','decided','item 9','{"facts":{"decisions":[15,15,1,"027fefce7d57a005c7957e7d8422db29fdf181d9abd45bd474c998d59219f8d9"]},"reason":"bad_data","round":"screening","verb":"reject","version":9}','e123b55a933f7691429df435fb4c195d86ac0f1a5529b5e4672e7e5a72498d1a','123f25a8e2399efedade38960247de22090020433a58ec101458c7956307b31a');
INSERT INTO "log" VALUES(31,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.1"}','123f25a8e2399efedade38960247de22090020433a58ec101458c7956307b31a','b6183cbac65b0cfee21de8462bbb2899e5e510b62bcf22bc2ee10319e9278d9f');
INSERT INTO "log" VALUES(32,'2026-11-22T13:03:00.000+00:00','ZO','signed out','ZO','{}','b6183cbac65b0cfee21de8462bbb2899e5e510b62bcf22bc2ee10319e9278d9f','886dde20bdce28a2c864b36829965416f82f57e151bac38eabf561c9732c5df7');
INSERT INTO "log" VALUES(33,'2026-11-22T13:03:00.000+00:00','ZO','signed in','ZO','{"origin":"10.0.0.2"}','886dde20bdce28a2c864b36829965416f82f57e151bac38eabf561c9732c5df7','d9fa9490b1198961c6edf09d3bf79963ce48ed4ef071189b6079e08a20a2e86e');
INSERT INTO "log" VALUES(34,'2026-11-22T13:03:00.000+00:00',NULL,'sign-in refused','ZO','{"origin":"10.0.0.3"}','d9fa9490b1198961c6edf09d3bf79963ce48ed4ef071189b6079e08a20a2e86e','46e0b94aabb5f9b12d5d2c5b5d52510347e022b972ab172d1b00a38f092f448e');
INSERT INTO "log" VALUES(35,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 1','{"assignments":12,"facts":{"blind_assignments":[1,1,12,"c647e784205a1a8497792cea5a07939be5536be28b8bef082ff10248e077fff7"],"blind_sessions":[1,1,1,"43284c0352ef74980236dd2780a165828a151d197b9f759621e9f2a8def38560"]},"scorers":["RE","AU"]}','46e0b94aabb5f9b12d5d2c5b5d52510347e022b972ab172d1b00a38f092f448e','8a2b99fdbda3de0a83f8324b9657967447a132e1928035467014a6176ad30a84');
INSERT INTO "log" VALUES(36,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 2','{"assignments":12,"facts":{"blind_assignments":[2,2,12,"c9937e17e3b87386d11d985f4c504528626b528dbb8541edc0e53c8f99b21004"],"blind_sessions":[2,2,1,"3c8dffe55c7a2cd6988bb7b13c2ed48520ae7697c526f80b367bac62ad63122c"]},"scorers":["RE","AU"]}','8a2b99fdbda3de0a83f8324b9657967447a132e1928035467014a6176ad30a84','89408d403ca396457de2e78ecc0ddbd4cb893bfbee8ef2b4b90f7839cee59ca5');
INSERT INTO "log" VALUES(37,'2026-11-22T13:03:00.000+00:00','CO','blind session drawn','session 3','{"assignments":12,"facts":{"blind_assignments":[3,3,12,"8b91594b646e6078c3711a386a1071500ce44cec60ba0fd0750c45569d8f1de3"],"blind_sessions":[3,3,1,"4790efe15b11d5c74ce8004c6d4e85fe872a5f0ff106110b9799e78d024b9981"]},"scorers":["RE","AU"]}','89408d403ca396457de2e78ecc0ddbd4cb893bfbee8ef2b4b90f7839cee59ca5','afed62a5282e700c84951e1c3e315a3f7c6f4de2e8c2bd6a85772e8d606bc08b');
INSERT INTO "log" VALUES(38,'2026-11-22T13:03:00.000+00:00','CO','blind session opened','session 1','{"facts":{"blind_states":[1,1,1,"14c37e834e778bfddc5017f4a7d834347ca442d4710bf7f495e269c11c89577c"]}}','afed62a5282e700c84951e1c3e315a3f7c6f4de2e8c2bd6a85772e8d606bc08b','2233bfb4ca9f4036b5f52fa1a89365d863aec96196a3534ee774b96f95ba18d9');
INSERT INTO "log" VALUES(39,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[1,1,1,"a0f97430f8efc878e86fc45a3027755c8e89d68ffbdfb52d0311e53e24ca5cfd"]},"place":1}','2233bfb4ca9f4036b5f52fa1a89365d863aec96196a3534ee774b96f95ba18d9','0f03cca26234a4313feb5ea0fcc48543493f3c9de24c9e12274b91a3a3c426ab');
INSERT INTO "log" VALUES(40,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[2,2,1,"9468f25baada411e6e09ca0b6d2425e15278b56c036de07fb4e37f3b7c710f2e"]},"place":2}','0f03cca26234a4313feb5ea0fcc48543493f3c9de24c9e12274b91a3a3c426ab','9eeb8af31760adffac58fa4b13d9724e7624c6dd83779ff181791aae39d007d5');
INSERT INTO "log" VALUES(41,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[3,3,1,"9a3fc8e958237919b2734aa6c518c3a4d597860a53e89eae71586dc50f265dc4"]},"place":3}','9eeb8af31760adffac58fa4b13d9724e7624c6dd83779ff181791aae39d007d5','41806ffd87a1d6da68615e0bf1dc6889f8fa29e6714bcca6a9fcc6596faa53c8');
INSERT INTO "log" VALUES(42,'2026-11-22T13:03:00.000+00:00','RE','scored blind','session 1','{"facts":{"blind_scores":[4,4,1,"79f1bad5452acaff35a7346adcb7a0f3ebcb5f0569c1af04a597dc0ec4f2ade6"]},"place":4}','41806ffd87a1d6da68615e0bf1dc6889f8fa29e6714bcca6a9fcc6596faa53c8','6c7ca6fb15f1329958c127e18dc290bca0207335180cca2b4f1e97d6cfafa779');
INSERT INTO "log" VALUES(43,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[1,1,1,"b579f9bd107340a3213d5bd24213ce0cb59f439543129fe93ab4d3ab14554959"]},"place":5}','6c7ca6fb15f1329958c127e18dc290bca0207335180cca2b4f1e97d6cfafa779','4392207cc04bc463477dc21c051237bdad1e7616e71e1e466339af3a40f5bab2');
INSERT INTO "log" VALUES(44,'2026-11-22T13:03:00.000+00:00','RE','preferred blind','session 1','{"facts":{"blind_preferences":[2,2,1,"81260ced065402748c314c34be3c2452f08b5ec5b9094fe29fefe7175f22f5d3"]},"place":6}','4392207cc04bc463477dc21c051237bdad1e7616e71e1e466339af3a40f5bab2','134b01abdc0b3b629c8b917dc56cf72543dfe8cd939564b9768ee034fc436e92');
INSERT INTO "log" VALUES(45,'2026-11-22T13:23:00.000+00:00','CO','blind session opened','session 2','{"facts":{"blind_states":[2,2,1,"03117984b0c3c8d368d42abd85a3d8aa2517809139e26ef7dd24945746f99ad8"]}}','134b01abdc0b3b629c8b917dc56cf72543dfe8cd939564b9768ee034fc436e92','4988f2a82f7c3e9e9c03184f4a2515c141203a6bb1b5ba779aaee37944924098');
INSERT INTO "log" VALUES(46,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[5,5,1,"3a96db7be9681a3f032854f5523daee15be37c11b2c982e3302a38b731d32b5b"]},"place":1}','4988f2a82f7c3e9e9c03184f4a2515c141203a6bb1b5ba779aaee37944924098','879d5ec6a18d1e6fc9e2b87e62e2eecab9a24bc290c592e77a69e97b56a0879a');
INSERT INTO "log" VALUES(47,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[6,6,1,"3b09876a8d0ce78ace8f5b3f2dc05dfc983a74e6575dedff660cbf27149da7e8"]},"place":2}','879d5ec6a18d1e6fc9e2b87e62e2eecab9a24bc290c592e77a69e97b56a0879a','8758b5fcf1354ffebbbac2a31b140c7aed7af1e5a41e2a564586e7a778cf95a5');
INSERT INTO "log" VALUES(48,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[7,7,1,"c1d7a84b42f3b6defd7f6bc7a996a7619adfc02f515f5c3d11d89036dbc4df1c"]},"place":3}','8758b5fcf1354ffebbbac2a31b140c7aed7af1e5a41e2a564586e7a778cf95a5','71f460cde79c87257859f19ad6a1b7a5e99d892dd34827f84d26db26ed0f4213');
INSERT INTO "log" VALUES(49,'2026-11-22T13:23:00.000+00:00','RE','scored blind','session 2','{"facts":{"blind_scores":[8,8,1,"3083c659f44a49cafb2637030acb3458a357b0bd8e10eb251e836b78f5684637"]},"place":4}','71f460cde79c87257859f19ad6a1b7a5e99d892dd34827f84d26db26ed0f4213','4ca969bfbb0a7e28a9549bf6b1f655f71b7a44261ac96c6c5de6251f8a5ae37d');
INSERT INTO "log" VALUES(50,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[3,3,1,"c2331b013c4587997074e40519f966734451819178f14de50450fc5e8621bed2"]},"place":5}','4ca969bfbb0a7e28a9549bf6b1f655f71b7a44261ac96c6c5de6251f8a5ae37d','f28358386006bd8725a228ea8f22b332483f05e1b55fe4569e1d547e5e4abe27');
INSERT INTO "log" VALUES(51,'2026-11-22T13:23:00.000+00:00','RE','preferred blind','session 2','{"facts":{"blind_preferences":[4,4,1,"c866ec7c9e7676d5ca0cf2818e13857d9e9e67b523d380c4d9009777cb6af85b"]},"place":6}','f28358386006bd8725a228ea8f22b332483f05e1b55fe4569e1d547e5e4abe27','7d5801ac724929a1611628e62640161eda13efa21ccb7cbcb09786cdb7ab055f');
INSERT INTO "log" VALUES(52,'2026-11-22T13:43:00.000+00:00','CO','judged blind','session 1','{"facts":{"blind_judgements":[1,1,1,"efc322f991c9a710ddade9d2a7622799e184fbbdf9753b0b03e94c76db689f2c"]},"judge":"judge-70b"}','7d5801ac724929a1611628e62640161eda13efa21ccb7cbcb09786cdb7ab055f','f03281fe8a5e561534244855ff1a7206d0e431fa18be51c873b81b4f5f279ee0');
INSERT INTO "log" VALUES(53,'2026-11-22T13:43:00.000+00:00','CO','blind session closed','session 1','{"facts":{"blind_states":[3,3,1,"8f40f685799c8eeb4aa4e800130389751d914aa12da7cda4ae60759d94a770ff"]}}','f03281fe8a5e561534244855ff1a7206d0e431fa18be51c873b81b4f5f279ee0','5fd684df2d61df75f302a920e7481268e1df58d55fdf62eeefefcdab7a9d959e');
INSERT INTO "log" VALUES(54,'2026-11-22T13:43:00.000+00:00','CO','deactivated','JU','{"leases ended":0,"people":{"JU":"71fa373889d85396376de35e21d76b0837b7d2a186a1728601858749d2dd90c5"},"sessions ended":0}','5fd684df2d61df75f302a920e7481268e1df58d55fdf62eeefefcdab7a9d959e','fedba08e61127b5c10461f4873b7dc0731513a3f4928801d180bff28a920c708');
CREATE TABLE marks (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    step TEXT NOT NULL,
    person TEXT NOT NULL REFERENCES people (initials),
    mark TEXT NOT NULL,
    note TEXT NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "marks" VALUES(1,'46d82bc240e248ddb6bd116f8937090a',1,1,'s3','VO','hallucinated feature','=cmd|''x''!A1 and “quotes”','2026-11-22T12:00:00.000+00:00');
CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at TEXT NOT NULL);
INSERT INTO "migrations" VALUES(1,'first schema','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(2,'blind sessions','2026-11-21T12:00:00.000+00:00');
INSERT INTO "migrations" VALUES(3,'audit log','2026-11-21T12:00:00.000+00:00');
CREATE TABLE people (
    initials TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    roles TEXT NOT NULL CHECK (json_valid(roles)),
    password TEXT,
    active INTEGER NOT NULL DEFAULT 1,
    added_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO "people" VALUES('AU','Dr AU','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('AX','Dr AX','["auditor"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('CO','Dr CO','["coordinator"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('JU','Dr JU','["auditor"]',NULL,0,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('RE','Dr RE','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('VO','Dr VO','["reviewer"]',NULL,1,'2026-11-21T12:00:00.000+00:00');
INSERT INTO "people" VALUES('ZO','Zoë Ångström','["auditor", "reviewer"]','scrypt$15$8$3$96935494bd4ee1ed2cea8bf458340eb6$ba2718b8bce0d7b6c46145511b7d9df60528f08d26a4321c1112e27db9580389',1,'2026-11-21T12:00:00.000+00:00');
CREATE TABLE pictures (sha256 TEXT PRIMARY KEY, png BLOB NOT NULL);
INSERT INTO "pictures" VALUES('72f029cb07a1704fd328e4dc99fd2609374fb8e520f9021f8d3bcc7d761a0296',X'89504E470D0A1A0A0000000D49484452000000030000000208020000001216F14D0000001549444154789C63646068606060606060606280010008BC00847A9A81500000000049454E44AE426082');
CREATE TABLE sessions (
    token_hash TEXT PRIMARY KEY,
    person TEXT NOT NULL REFERENCES people (initials),
    started_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    ended_at TEXT
) WITHOUT ROWID;
INSERT INTO "sessions" VALUES('69f57e921e5d0136fe1be2c8b2b78f7ea5cbead91f55725af521fa296c0ab489','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00',NULL);
INSERT INTO "sessions" VALUES('8e73e9ab0781df1405dd83d981b1a31985c7b05312eb20a52a5c1475543a0a83','ZO','2026-11-22T13:03:00.000+00:00','2026-11-23T13:03:00.000+00:00','2026-11-22T13:03:00.000+00:00');
CREATE TABLE settings (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    value TEXT NOT NULL CHECK (json_valid(value)),
    person TEXT REFERENCES people (initials),
    at TEXT NOT NULL
);
INSERT INTO "settings" VALUES(1,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 2}',NULL,'2026-11-22T15:19:48.298+00:00');
INSERT INTO "settings" VALUES(2,'rules','{"approve_at": 2, "auditors": 2, "reject_at": 2, "solo": false, "votes": 3}','CO','2026-11-21T12:00:00.000+00:00');
INSERT INTO "settings" VALUES(3,'campaign','{"name": "November", "classes": ["cv"]}','CO','2026-11-21T12:00:00.000+00:00');
CREATE TABLE sign_ins (
    id INTEGER PRIMARY KEY,
    initials TEXT NOT NULL,
    origin TEXT NOT NULL,
    ok INTEGER NOT NULL,
    at TEXT NOT NULL
);
INSERT INTO "sign_ins" VALUES(1,'ZO','10.0.0.1',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(2,'ZO','10.0.0.2',1,'2026-11-22T13:03:00.000+00:00');
INSERT INTO "sign_ins" VALUES(3,'ZO','10.0.0.3',0,'2026-11-22T13:03:00.000+00:00');
CREATE TABLE spectra (
    sha256 TEXT PRIMARY KEY,
    grid TEXT NOT NULL REFERENCES grids (sha256),
    name TEXT NOT NULL,
    survey TEXT NOT NULL,
    medium TEXT NOT NULL CHECK (medium IN ('vacuum', 'air')),
    frame TEXT NOT NULL CHECK (frame IN ('observed', 'rest')),
    flux_unit TEXT NOT NULL,
    redshift REAL,
    ra REAL,
    dec REAL,
    catalogue_class TEXT NOT NULL,
    errors TEXT NOT NULL,
    details TEXT NOT NULL CHECK (json_valid(details)),
    flux_type TEXT NOT NULL CHECK (flux_type IN ('<f4', '<f8')),
    flux BLOB NOT NULL,
    ivar_type TEXT NOT NULL CHECK (ivar_type IN ('<f4', '<f8')),
    ivar BLOB NOT NULL,
    mask BLOB NOT NULL,
    added_at TEXT NOT NULL
);
INSERT INTO "spectra" VALUES('034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0000.fits','LAMOST','vacuum','observed','relative',0.0,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0001.fits','LAMOST','vacuum','observed','relative',0.01,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0002.fits','LAMOST','vacuum','observed','relative',0.02,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
INSERT INTO "spectra" VALUES('0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29','c0e9d151a64b62d94930416cf0bcd9221e5428e046c7ebd01d72e8deb336c626','spec-0003.fits','LAMOST','vacuum','observed','relative',0.03,NULL,NULL,'','measured','{"ids": {"obsid": "14812345"}, "snr": {"r": 20.0}, "meta": {}}','<f4',X'789C1379FDF315BF46BCD9A7A3CC12FCFC36AD91BA13854D2ADB98A766BE5E9DFBEBF5217F0F86D62999714DDFB7F4DD7CF53FE3D3E22C46AFD9523D67BCAD8424ED3CDAF63D5CF74CAF9667D94D9E3A8F0916979FB64E55AB5B9C33F5A6F09BF86F13B7E8338BDB34A425C87B5D0B5D90D3CFDC5F62B069698276F247ED23BF55B4967FBB952EFAC4EA6051C3FFE3259F0E2965EC5C7E2EEF9BF3A2E0D2351A628A9B2E7EC978757FC645DBFF11E66EC9BC8FAEF1F7ED4CFAC5C4FAEFC47D91291BCBD8662F947CECF45821B6AFA126FEE863AEBB93967538A6BE7EBEF834DFC7FFD5AFF43E2C6464CA949D70AEE1900D5B9EBCB6C4AA64AED98AF7DF644AF7177BBDDED8B758F153C0AE9B3D064E3BF5D6CE7CE2BD3765F54FBBD8958792B6D83D96287079BA74CF31CE43D3AE55F3DBEF29CFDFF4822D34338EED476FD1F337DBE5BEFEC8E995C8FADC7B4250B8ECA9475FE1FA2D378EF97D4A6F9E7890AFA448DDE29BCBEB925D5E95EF2E28C9D8865E58CD3467C60715F7FA5F491B1F4E2F5DFE2B7289A3E9C7979FEC32F7594AA4AD8CDD33C1F0987852787BE6928405D59E2BAB1E4C3234B4BEF85DB87765FB29E6B7AD13261E8FDD61E4717C83EF395EB6DB5358EE2DBE64FF3FD46BD96FA9E9EAAE01DFBF3EE82EDEB543FDE9848E1FA27397DD10E5887CC85CF5FF914CD996259AC5FD9C3BFBC4B326963ACFBD1CCE9097B83975E992876CFFBFA6292ED876EFCBC4BCB0FB9F02657E2FF5293FE917A7DC762FE681FF65ED682BA186F92C390CAE99797DD9A77D2D332484B4DF7FBBE6B0E08747E4FF40B98DCC95029E777A4F39DE9B94DB7CF3BD0BAFD856BE33A18DF2D5FB2C76199F3094E050CC7699B2566F598DA591994EF2BE8EB470D3B2FE86B6DECC85992D8B6B1B8B5A3CF3A73655B6B436B687B6E775D5A7D5A5F5D477254FA998D895DC52D43AA9A337A9A9A5B7A0BD3522B53531A1BBB9B2B1B4A8A46542715D557C73775657615F7F994F794C5CE5C4DAAA808298B6A2BAFAEA9EB6F2C6F6898D930AAA22BB5253BB8A727AAABB4B3B7B1BA7975635F6549434F797C6D7B41735063434B63777A6758416F47505B497E434354E8C2EAD09E89F96DF52D99CD79534B1657E686D7C4D6B467470D384FE86F4B2C8F0DE8A968A099372CAF226F457CC6D48F0AE692968E9AFEB9ADA56D8DA36BB24A2B9A5B4BDA53F2BAFBE78427BFDE4B69EAE9A9A8694F2AEE6F479A9ED9D13321BAAFB5A5BDB677674677426F4346525D73515575696D4B44CEC2C9E3AA1BAAF24BF605A736B53457BD7ACDCA95DE17DD3FAED4701D10000791906FD','<f4',X'789C63601805A380FAE0C428201A388D02A2010009B237C8',X'789C63602006000000260001','2026-11-21T12:00:00.000+00:00');
CREATE TABLE standings (
    item INTEGER PRIMARY KEY REFERENCES items (id),
    state TEXT NOT NULL,
    version INTEGER NOT NULL REFERENCES versions (id),
    number INTEGER NOT NULL,
    "cast" INTEGER NOT NULL,
    compared INTEGER NOT NULL,
    disagreement INTEGER NOT NULL,
    decided_at TEXT,
    task TEXT NOT NULL,
    survey TEXT NOT NULL,
    snr REAL,
    drafter TEXT NOT NULL,
    batch TEXT NOT NULL,
    simulated INTEGER NOT NULL
);
INSERT INTO "standings" VALUES(1,'approved',1,1,0,1,0,'2026-11-22T12:03:00.000+00:00','cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(2,'returned',10,2,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(3,'screening',3,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(4,'screening',4,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(5,'screening',5,1,0,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(6,'screening',6,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(7,'audit',7,1,1,0,0,NULL,'cv','LAMOST',20.0,'gpt-5','november',0);
INSERT INTO "standings" VALUES(8,'screening',8,1,0,0,0,NULL,'cv','LAMOST',20.0,'Spec-o3-7B','november',0);
INSERT INTO "standings" VALUES(9,'rejected',9,1,0,0,0,'2026-11-22T12:03:00.000+00:00','cv','',NULL,'rule 1','',0);
CREATE TABLE tallies (
    state TEXT, task TEXT, survey TEXT, drafter TEXT, batch TEXT, disagreement INTEGER, simulated INTEGER,
    items INTEGER NOT NULL CHECK (items >= 0),
    PRIMARY KEY (state, task, survey, drafter, batch, disagreement, simulated)
) WITHOUT ROWID;
INSERT INTO "tallies" VALUES('approved','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('audit','cv','LAMOST','gpt-5','november',0,0,1);
INSERT INTO "tallies" VALUES('rejected','cv','','rule 1','',0,0,1);
INSERT INTO "tallies" VALUES('returned','cv','LAMOST','Spec-o3-7B','november',0,0,1);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','Spec-o3-7B','november',0,0,0);
INSERT INTO "tallies" VALUES('revision','cv','LAMOST','gpt-5','november',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','','rule 1','',0,0,0);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','Spec-o3-7B','november',0,0,3);
INSERT INTO "tallies" VALUES('screening','cv','LAMOST','gpt-5','november',0,0,2);
INSERT INTO "tallies" VALUES('vote','cv','LAMOST','gpt-5','november',0,0,0);
CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES items (id),
    version INTEGER NOT NULL REFERENCES versions (id),
    person TEXT NOT NULL REFERENCES people (initials),
    verdict TEXT NOT NULL CHECK (verdict IN ('YES', 'NO', 'cannot tell')),
    at TEXT NOT NULL,
    UNIQUE (item, person, version)
);
INSERT INTO "verdicts" VALUES(1,1,1,'VO','cannot tell','2026-11-22T12:00:00.000+00:00');
CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES items (id),
    number INTEGER NOT NULL,
    content_hash TEXT NOT NULL,
    parent INTEGER REFERENCES versions (id),
    author TEXT REFERENCES people (initials),
    reason TEXT NOT NULL,
    at TEXT NOT NULL,
    -- Last, because SQLite reads through a long column to get at those behind it.
    body TEXT NOT NULL CHECK (json_valid(body)),
    UNIQUE (item, number)
);
INSERT INTO "versions" VALUES(1,'draft:sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',1,1,'sha256:a3855ab414e444ebb87246063960e13dcf44304785e5eacea1a9b58574fce2c0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(2,'draft:sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',2,1,'sha256:1f77604def244c35f37d2fdf3a7ce9f73a731b763be3110b1ac95ddb4741d6e6',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(3,'draft:sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',3,1,'sha256:669c493c265dee0442689d4dd0c9f8147da1ebb108ac8299dabeff7a1ebb6933',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(4,'draft:sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',4,1,'sha256:df7f2075f84190c44abe57353a301c1668768fc78d3096dabf6836bfae310f03',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0001.fits","sha256":"65c82d3030d962e3e90743b570eebb97b6d945eb2e5b5185b4e117b177387a76"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(5,'draft:sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',5,1,'sha256:f4a189e4892a3db78f98cd299590b039b9a5fa499c47f6dc430a3fddbfb69c0d',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(6,'draft:sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',6,1,'sha256:ed75bb616aaa004bf19dcb3b9892b1ece7bd2423bcb03b625871680653fbdfb7',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0002.fits","sha256":"179bb7dad518ed07c21c86f4c3ea3ed21720d0f3a3afead277c972b2e484e038"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(7,'draft:sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',7,1,'sha256:29f6ad24dd714115b56e6ae86278f3834f769c3a223e2dbbb07515ef28ad6787',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"gpt-5","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"gpt-5 sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(8,'draft:sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',8,1,'sha256:ac35cfb1fc151079d0588b55846537bd3f1ad5ce2e35905c508dc76ec8b29b0e',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0003.fits","sha256":"0fbec2bc4f2c2577d778cda4012259c900b4eded069acb61df1e54b1aa9dba29"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Spec-o3-7B sees Hα."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(9,'draft:sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',9,1,'sha256:e871b283c9ba77c7417d3a47a657b310ea2be90a6a79a012912bef3d6f798db0',NULL,NULL,'draft','2026-11-21T12:00:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"gone.fits","sha256":null},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"baseline","name":"rule 1","settings":{}},"label":null,"label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Only its picture is left."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
INSERT INTO "versions" VALUES(10,'f884f0515f8742d6ae456905f00865e8',2,2,'sha256:91eb91d9d58a9c8383582a025b85dd13c8cef2b6fdb6681963adcaa162415f4f',2,'RE','clearer','2026-11-22T12:03:00.000+00:00','{"schema":"spec-o3/trajectory/1","task":"cv","system":"You are a helpful assistant.","prompt":"Is this a cataclysmic variable?","spectrum":{"name":"spec-0000.fits","sha256":"034c8b4d0be5ceca29dcbc44dac72ceb76ff94ae773d9bd19e8d137f065b3a7b"},"redshift":null,"medium":"vacuum","overview":null,"drafter":{"kind":"model","name":"Spec-o3-7B","settings":{}},"label":"YES","label_source":"","simulated":false,"steps":[{"id":"s1","kind":"think","text":"Hα is narrow; the second look says so."},{"id":"s2","kind":"zoom","arguments":{"wavelength_range":[6500,6600],"label":"Hα"},"frame":"observed","z":0.0,"medium":"vacuum","observation":"","ok":true,"picture":"abababababababababababababababababababababababababababababababab"},{"id":"s3","kind":"think","text":"Double peaked, so a disk."},{"id":"s4","kind":"answer","verdict":"YES","explanation":"Broad Balmer emission."}],"faults":[]}');
CREATE INDEX settings_by_name ON settings (name, id);
CREATE INDEX sign_ins_by_initials ON sign_ins (initials, origin, at);
CREATE INDEX items_by_spectrum ON items (spectrum);
CREATE INDEX versions_by_author ON versions (author, item) WHERE author IS NOT NULL;
CREATE INDEX decisions_by_item ON decisions (item, id);
CREATE INDEX marks_by_item ON marks (item, id);
CREATE UNIQUE INDEX leases_running ON leases (item, person) WHERE ended IS NULL;
CREATE INDEX standings_walk
    ON standings (state, item, task, survey, snr, drafter, batch, disagreement, simulated);
CREATE INDEX standings_snr
    ON standings (snr, state, task, survey, drafter, batch, disagreement, simulated);
CREATE INDEX barred_by_item ON barred (item);
CREATE TRIGGER standings_insert AFTER insert ON standings BEGIN INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER standings_delete AFTER delete ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated; END;
CREATE TRIGGER standings_update AFTER update OF state, task, survey, drafter, batch, disagreement, simulated ON standings BEGIN UPDATE tallies SET items = items - 1 WHERE state = old.state AND task = old.task AND survey = old.survey AND drafter = old.drafter AND batch = old.batch AND disagreement = old.disagreement AND simulated = old.simulated;INSERT INTO tallies VALUES (new.state, new.task, new.survey, new.drafter, new.batch, new.disagreement, new.simulated, 1) ON CONFLICT DO UPDATE SET items = items + 1; END;
CREATE TRIGGER versions_no_update BEFORE update ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never update'); END;
CREATE TRIGGER versions_no_delete BEFORE delete ON versions BEGIN SELECT RAISE(ABORT, 'versions are facts: append, never delete'); END;
CREATE TRIGGER decisions_no_update BEFORE update ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never update'); END;
CREATE TRIGGER decisions_no_delete BEFORE delete ON decisions BEGIN SELECT RAISE(ABORT, 'decisions are facts: append, never delete'); END;
CREATE TRIGGER marks_no_update BEFORE update ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never update'); END;
CREATE TRIGGER marks_no_delete BEFORE delete ON marks BEGIN SELECT RAISE(ABORT, 'marks are facts: append, never delete'); END;
CREATE TRIGGER verdicts_no_update BEFORE update ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never update'); END;
CREATE TRIGGER verdicts_no_delete BEFORE delete ON verdicts BEGIN SELECT RAISE(ABORT, 'verdicts are facts: append, never delete'); END;
CREATE TRIGGER settings_no_update BEFORE update ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never update'); END;
CREATE TRIGGER settings_no_delete BEFORE delete ON settings BEGIN SELECT RAISE(ABORT, 'settings are facts: append, never delete'); END;
CREATE INDEX blind_scores_by_assignment ON blind_scores (assignment, id);
CREATE INDEX blind_preferences_by_assignment ON blind_preferences (assignment, id);
CREATE INDEX blind_judgements_by_session ON blind_judgements (session, judge);
CREATE TRIGGER blind_sessions_no_update BEFORE update ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never update'); END;
CREATE TRIGGER blind_sessions_no_delete BEFORE delete ON blind_sessions BEGIN SELECT RAISE(ABORT, 'blind_sessions are facts: append, never delete'); END;
CREATE TRIGGER blind_assignments_no_update BEFORE update ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never update'); END;
CREATE TRIGGER blind_assignments_no_delete BEFORE delete ON blind_assignments BEGIN SELECT RAISE(ABORT, 'blind_assignments are facts: append, never delete'); END;
CREATE TRIGGER blind_states_no_update BEFORE update ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never update'); END;
CREATE TRIGGER blind_states_no_delete BEFORE delete ON blind_states BEGIN SELECT RAISE(ABORT, 'blind_states are facts: append, never delete'); END;
CREATE TRIGGER blind_scores_no_update BEFORE update ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never update'); END;
CREATE TRIGGER blind_scores_no_delete BEFORE delete ON blind_scores BEGIN SELECT RAISE(ABORT, 'blind_scores are facts: append, never delete'); END;
CREATE TRIGGER blind_preferences_no_update BEFORE update ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never update'); END;
CREATE TRIGGER blind_preferences_no_delete BEFORE delete ON blind_preferences BEGIN SELECT RAISE(ABORT, 'blind_preferences are facts: append, never delete'); END;
CREATE TRIGGER blind_judgements_no_update BEFORE update ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never update'); END;
CREATE TRIGGER blind_judgements_no_delete BEFORE delete ON blind_judgements BEGIN SELECT RAISE(ABORT, 'blind_judgements are facts: append, never delete'); END;
CREATE TRIGGER log_no_update BEFORE update ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never update'); END;
CREATE TRIGGER log_no_delete BEFORE delete ON log BEGIN SELECT RAISE(ABORT, 'log are facts: append, never delete'); END;
CREATE TRIGGER exports_no_update BEFORE update ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never update'); END;
CREATE TRIGGER exports_no_delete BEFORE delete ON exports BEGIN SELECT RAISE(ABORT, 'exports are facts: append, never delete'); END;
PRAGMA writable_schema=OFF;
COMMIT;
PRAGMA application_id = 1399869235;
